"""A state folder that the daemon must not use: it ends with one sentence that says what to do, and every
byte of the folder's database is what it was."""

import os
import random
import shutil
import sqlite3
import subprocess

import pytest

import harness


@pytest.fixture(scope="module")
def used(tmp_path_factory):
    """The folder of a daemon that was killed in use: its database with a log beside it."""
    folder = tmp_path_factory.mktemp("used")
    daemon = harness.Daemon(folder, harness.FakeHost(folder / "host")).start()
    for _ in range(3):
        job = daemon.begin_short_run()
        daemon.finish(job)
    daemon.kill()
    return daemon.state


@pytest.fixture
def state(used, tmp_path):
    shutil.copytree(used, tmp_path / "state", symlinks=True)
    return tmp_path / "state"


@pytest.fixture
def folded(state):
    """The same after the log was taken into the file."""
    db = sqlite3.connect(state / "aurabench.db")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    assert not (state / "aurabench.db-wal").exists()
    return state


def start(state, tmp_path, **how) -> tuple[int, str]:
    """Exit status and what it said, of a daemon that must not serve."""
    done = subprocess.run([str(harness.DAEMON), "--state", str(state), "--socket", str(tmp_path / "s")],
                          text=True, capture_output=True, timeout=harness.PATIENCE_S, env={
                              **harness.CLEAN_ENV, "HOME": str(tmp_path)}, **how)
    assert "Sanitizer" not in done.stderr, done.stderr
    return done.returncode, done.stderr


def databases(state) -> dict[str, bytes]:
    """The bytes of each; SQLite may begin a log, and has shared memory beside it."""
    found = {p.name: p.read_bytes() for p in state.glob("aurabench.db*")
             if p.is_file() and not p.name.endswith("-shm")}
    return {name: data for name, data in found.items() if data or name == "aurabench.db"}


def refuse(state, tmp_path, *words) -> str:
    before = databases(state)
    code, said = start(state, tmp_path)
    assert code == 1, said
    assert said.startswith("aurabenchd: ") and said.count("\n") == 1, said
    for word in words:
        assert word in said, said
    assert databases(state) == before
    return said


def overwrite(path, at, data):
    with path.open("r+b") as f:
        f.seek(at)
        f.write(data)


def test_the_folder_itself_is_good(state, tmp_path, fake_host):
    daemon = harness.Daemon(tmp_path, fake_host).start()
    assert len(daemon.json("list")["jobs"]) == 3
    daemon.close()


@pytest.mark.parametrize("keep", [0.1, 0.5, 0.999])
def test_a_truncated_database(folded, tmp_path, keep):
    db = folded / "aurabench.db"
    os.truncate(db, int(db.stat().st_size * keep))
    refuse(folded, tmp_path, "restore it from a backup")


def test_an_emptied_database(folded, tmp_path):
    os.truncate(folded / "aurabench.db", 0)
    refuse(folded, tmp_path, "is empty, and was not", "restore it from a backup")


def test_an_overwritten_header(folded, tmp_path):
    overwrite(folded / "aurabench.db", 0, b"x" * 100)
    refuse(folded, tmp_path, "is not a database", "nothing was changed")


def test_a_database_of_zeros(folded, tmp_path):
    db = folded / "aurabench.db"
    db.write_bytes(bytes(db.stat().st_size))
    refuse(folded, tmp_path, "is not a database")


def test_a_page_in_the_middle(folded, tmp_path):
    seed = int(os.environ.get("AURABENCH_SEED", "0")) or random.randrange(1 << 30)
    print("AURABENCH_SEED", seed)
    db = folded / "aurabench.db"
    page = random.Random(seed).randrange(1, db.stat().st_size // 4096)
    data = db.read_bytes()[page * 4096:(page + 1) * 4096]
    overwrite(db, page * 4096, bytes(b ^ 0xff for b in data))
    refuse(folded, tmp_path, "is damaged", "restore it from a backup")


def test_garbage_in_the_log(state, tmp_path):
    overwrite(state / "aurabench.db-wal", 0, b"garbage!" * 100)
    refuse(state, tmp_path, "aurabench.db-wal", "nothing was changed")


def test_a_folder_in_the_place_of_the_database(folded, tmp_path):
    (folded / "aurabench.db").unlink()
    (folded / "aurabench.db").mkdir()
    refuse(folded, tmp_path, "is a folder")


def test_a_link_in_the_place_of_the_database(folded, tmp_path):
    (folded / "aurabench.db").rename(tmp_path / "real.db")
    (folded / "aurabench.db").symlink_to(tmp_path / "real.db")
    before = (tmp_path / "real.db").read_bytes()
    refuse(folded, tmp_path, "is a link")
    assert (tmp_path / "real.db").read_bytes() == before


def test_another_programs_database(folded, tmp_path):
    (folded / "aurabench.db").unlink()
    db = sqlite3.connect(folded / "aurabench.db")
    db.execute("CREATE TABLE mail (a)")
    db.commit()
    db.close()
    refuse(folded, tmp_path, "another program", "name another state folder")


def test_a_database_of_a_newer_version(folded, tmp_path):
    db = sqlite3.connect(folded / "aurabench.db")
    db.execute("INSERT INTO schema_migrations VALUES (999, 'future', 'x', 1)")
    db.commit()
    db.close()
    refuse(folded, tmp_path, "newer version", "install that version")


def test_a_database_that_others_may_write(folded, tmp_path):
    (folded / "aurabench.db").chmod(0o666)
    refuse(folded, tmp_path, "chmod go-w")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_database_of_another_user(folded, tmp_path):
    os.chown(folded / "aurabench.db", 65534, 65534)
    refuse(folded, tmp_path, "belongs to user 65534")


def namespaced(*command) -> list[str]:
    """The command in a mount namespace, where this machine lets a test have one."""
    prefix = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]
    try:
        able = subprocess.run([*prefix, "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        able = False
    if not able:
        pytest.skip("this machine gives a test no mount namespace")
    return [*prefix, *command]


def test_a_disk_that_is_mounted_read_only(folded, tmp_path):
    script = ('mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && exec "$2" --state "$1" --socket "$3"')
    before = databases(folded)
    done = subprocess.run(namespaced("sh", "-c", script, "sh", str(folded), str(harness.DAEMON), str(tmp_path / "s")),
                          text=True, capture_output=True, env={**harness.CLEAN_ENV, "HOME": str(tmp_path)})
    assert done.returncode == 1 and "Read-only file system" in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1
    assert databases(folded) == before
