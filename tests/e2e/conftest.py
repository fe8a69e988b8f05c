import json
import pathlib
import resource
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import harness  # noqa: E402


@pytest.fixture
def fake_host(tmp_path):
    return harness.FakeHost(tmp_path / "host")


@pytest.fixture
def daemon(tmp_path, fake_host, request):
    """A daemon on a scripted host that is quiet until a test says otherwise."""
    d = harness.Daemon(tmp_path, fake_host, getattr(request, "param", [])).start()
    yield d
    d.close()


@pytest.fixture
def wire(daemon):
    """A raw connection to the daemon."""
    w = daemon.connect()
    yield w
    w.close()


@pytest.fixture
def many_descriptors():
    """Room for over a thousand connections, in this process and in what it starts."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 4096:
        pytest.skip("this user may not open 4096 descriptors")
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.fixture
def real_daemon(tmp_path):
    """A daemon that looks at this very machine."""
    d = harness.Daemon(tmp_path).start()
    yield d
    d.close()


@pytest.fixture
def policy(tmp_path):
    path = tmp_path / "quick.json"
    path.write_text(json.dumps(harness.quick_policy()))
    return path


@pytest.fixture
def repo(tmp_path):
    """Two revisions of the tiny subject: the second does a twentieth of the work."""
    folder = tmp_path / "repo"
    harness.make_repo(folder, {"slow": {"run.py": harness.lane_program(400000)},
                               "fast": {"run.py": harness.lane_program(20000)}})
    return folder


@pytest.fixture
def suite(tmp_path):
    return harness.tiny_suite(tmp_path / "suite")


@pytest.fixture
def compare(daemon, repo, suite, policy):
    """Submits slow against fast; returns the job's id."""

    def submit(*args, **kwargs) -> str:
        return daemon.json("compare", "--repo", repo, "--before", "slow", "--after", "fast",
                           "--suite", suite, "--policy", policy, *args, **kwargs)["id"]

    return submit
