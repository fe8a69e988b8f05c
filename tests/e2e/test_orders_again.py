"""hold, release and edit over a daemon that goes down with the answer on its lips: they are sent again to the
next one, and done once."""

import pytest

import harness

pytestmark = pytest.mark.skipif(b"AURABENCH_FAULT" not in harness.DAEMON.read_bytes(),
                                reason="a build without fault points")
ORDERS = {"hold": ([], "held", "hold"), "release": (["--hold"], "queued", "release"), "edit": ([], "queued", "edit")}


@pytest.fixture
def faulty(tmp_path, fake_host):
    d = harness.Daemon(tmp_path, fake_host)
    d.spec = tmp_path / "fault"
    d.env = {"AURABENCH_FAULT": f"@{d.spec}"}
    d.start()
    yield d
    d.close()


@pytest.mark.parametrize("point", ["store.commit", "store.committed"])
@pytest.mark.parametrize("order", ORDERS)
def test_an_order_is_sent_again_to_the_daemon_that_comes_back(faulty, tmp_path, policy, order, point):
    options, state, event = ORDERS[order]
    suite = harness.make_suite(tmp_path / "s", [harness.protocol({"lane": {"command": ["{suite}/lane"]}})],
                               {"lane": harness.LANE_SH})
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)})
    faulty.json("drain")  # nothing is begun
    ids = [faulty.json("submit", job, "--policy", policy, *options)["id"] for _ in range(1 if order == "edit" else 2)]
    faulty.spec.write_text(f"{point}=kill")
    client = harness.begin(faulty, order, *ids, *(["--priority", "7"] if order == "edit" else []))
    assert faulty.process.wait(harness.PATIENCE_S) == -9
    faulty.process = None
    faulty.start()
    status, out = harness.end(client)
    assert status == 0 and len(out.splitlines()) == len(ids), out
    for id in ids:
        assert faulty.state_of(id) == state
        done = faulty.sql("SELECT count(*) FROM job_history WHERE job = ? AND event = ?", id, event)
        assert done[0][0] == 1
    if order == "edit":
        assert faulty.show(ids[0])["job"]["priority"] == 7


def test_a_daemon_that_stays_away_is_said_once(faulty, tmp_path, policy):
    suite = harness.make_suite(tmp_path / "s", [harness.protocol({"lane": {"command": ["{suite}/lane"]}})],
                               {"lane": harness.LANE_SH})
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)})
    ids = [faulty.json("submit", job, "--policy", policy, "--hold")["id"] for _ in range(3)]
    faulty.spec.write_text("store.commit=kill")
    done = faulty.run("release", *ids, "--timeout", "1s", check=None)
    faulty.process.wait(harness.PATIENCE_S)
    faulty.process = None
    assert done.returncode != 0 and done.stdout == ""
    assert done.stderr.count("aurabench: ") == 1, done.stderr
    faulty.start()
