"""Clients that mean no good, or do not know better: endless lines, too many connections, no descriptor
left, peers that vanish or do not read. Whatever they do, the daemon's memory stays within figures that
are printed and asserted here, it sleeps when it has nothing to do, and the others are served."""

import json
import os
import resource
import socket
import threading
import time

import pytest

import harness
from wiretools import (GROWTH_MAX_BYTES, MIB, SANITIZED, ask_and_leave, code_of, code_of_second,
                       connect_raw, cpu_ticks, descriptors, lines_of, peak_bytes, request, reset_peak,
                       rss_bytes)

# What a connection may take that does nothing.
IDLE_CONNECTION_BYTES = (64 if SANITIZED else 4) << 10
# What all connections may hold of half lines and unread answers together (server/conn.h), and what
# each may take beside it: buffers grow by doubling.
ALL_HELD_BYTES = 128 * MIB


def check_others_are_served(daemon) -> None:
    other = daemon.connect()
    assert "result" in other.call("daemon.status")
    other.close()


def check_sleeps(daemon, seconds: float = 2) -> None:
    """A test for spinning, not for speed: a loop that spins takes a whole core."""
    before = cpu_ticks(daemon)
    time.sleep(seconds)
    share = (cpu_ticks(daemon) - before) / (seconds * os.sysconf("SC_CLK_TCK"))
    print(f"CPU of the idle daemon: {100 * share:.1f} % of a core over {seconds} s (bound 25 %)")
    assert share < 0.25


# ---- bytes without end


def pour(s: socket.socket, total: int) -> int:
    """Bytes without a newline, as many as the daemon takes until it hangs up, at most total."""
    sent, piece = 0, b"x" * MIB
    try:
        while sent < total:
            sent += s.send(piece)
    except OSError:
        pass
    return sent


def test_a_gigabyte_without_a_newline_is_refused_early_and_not_kept(daemon, wire):
    reset_peak(daemon)
    before = rss_bytes(daemon)
    sent = pour(wire.socket, 1024 * MIB)
    growth = peak_bytes(daemon) - before
    print(f"taken of 1 GiB: {sent / MIB:.1f} MiB (bound 20); growth at most {growth / MIB:.1f} MiB "
          f"(bound {GROWTH_MAX_BYTES // MIB})")
    assert sent < 20 * MIB
    assert growth < GROWTH_MAX_BYTES
    assert code_of(wire.receive()) == "rpc.too_long"
    with pytest.raises(ConnectionResetError):
        if wire.receive() is None:
            raise ConnectionResetError
    check_others_are_served(daemon)


def test_lines_of_1_mib_one_after_the_other_take_no_more_than_one(daemon, wire):
    line = request()[:-1]
    line += b" " * (MIB - len(line)) + b"\n"
    for _ in range(3):
        wire.send(line)
        assert "result" in wire.receive()
    reset_peak(daemon)
    before = rss_bytes(daemon)
    for _ in range(50):
        wire.send(line)
        assert "result" in wire.receive()
    growth = peak_bytes(daemon) - before
    # The sanitizer keeps up to 256 MiB of what was freed.
    bound = (300 if SANITIZED else 4) * MIB
    print(f"50 lines of 1 MiB: growth at most {growth / MIB:.1f} MiB (bound {bound // MIB})")
    assert growth < bound


# ---- those who do not read


def read_all(wire, until_id) -> list[dict]:
    """Messages up to the answer to until_id."""
    messages = []
    while True:
        messages.append(wire.receive())
        if messages[-1].get("id") == until_id:
            return messages


def test_a_watcher_that_does_not_read_gets_the_latest_of_its_job_and_always_the_last(daemon, compare,
                                                                                    fake_host, policy):
    fake_host.burner()  # so that the job waits until everybody is at his place
    policy.write_text(json.dumps(harness.quick_policy(retry={"every": "1s", "limit": 1000})))
    job = compare("--repetitions", 6)
    deaf, listener = daemon.connect(), daemon.connect()
    deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    questions = 400
    deaf.send(request("job.watch", 0, id=job))
    assert deaf.receive()["id"] == 0
    deaf.send(b"".join(request("host.show", i + 1) for i in range(questions)))
    listener.call("job.watch", id=job)
    fake_host.quiet()
    heard = []
    while not heard or not heard[-1]["params"]["final"]:
        heard.append(listener.receive())
    daemon.finish(job)
    deaf.send(request("daemon.status", "end"))
    messages = read_all(deaf, "end")
    assert [m["id"] for m in messages if "id" in m] == [*range(1, questions + 1), "end"]
    events = [m["params"] for m in messages if m.get("method") == "job.event"]
    print(f"events of the job: {len(heard)} told to who reads, {len(events)} to who does not")
    # The last may come behind the answer to the last question.
    if not events or not events[-1]["final"]:
        events.append(deaf.receive()["params"])
    assert events[-1]["final"] is True and events[-1]["state"] == "done"
    assert len(events) < len(heard) / 2
    deaf.close()
    listener.close()


def test_a_slow_reader_of_large_answers_gets_them_whole_and_holds_up_nobody(daemon):
    slow = daemon.connect()
    slow.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    questions = 300
    slow.send(b"".join(request("host.show", i) for i in range(questions)))
    other = daemon.connect()
    text, ids = b"", []
    while len(ids) < questions:
        assert "result" in other.call("daemon.status")
        text += slow.socket.recv(3001)
        *lines, text = text.split(b"\n")
        ids += [json.loads(line)["id"] for line in lines]
    assert ids == list(range(questions))
    slow.close()
    other.close()


def test_clients_that_vanish_in_the_middle_of_an_answer_harm_nobody(daemon):
    for how in ("close", "reset", "half"):
        for _ in range(10):
            wire = daemon.connect()
            wire.send(b"".join(request("host.show", i) for i in range(40)))
            if how == "half":
                wire.socket.shutdown(socket.SHUT_RD)  # writes to it are refused: SIGPIPE, EPIPE
            if how == "reset":
                wire.socket.recv(10)
            wire.close()
    check_others_are_served(daemon)


# ---- many connections


def test_1000_connections_at_once_are_all_served_and_take_little(many_descriptors, tmp_path,
                                                                fake_host):
    daemon = harness.Daemon(tmp_path, fake_host).start()
    try:
        check_others_are_served(daemon)
        before = rss_bytes(daemon)
        open_ones = [daemon.connect() for _ in range(1000)]
        each = (rss_bytes(daemon) - before) / 1000
        print(f"1,000 idle connections: {each / 1024:.1f} KiB each (bound {IDLE_CONNECTION_BYTES >> 10})")
        assert each < IDLE_CONNECTION_BYTES
        for w in open_ones:
            assert "result" in w.call("daemon.status")
        check_sleeps(daemon)
        for w in open_ones:
            w.close()
    finally:
        daemon.close()


def test_1000_connections_with_half_a_line_hold_no_more_than_all_may(many_descriptors, tmp_path,
                                                                    fake_host):
    daemon = harness.Daemon(tmp_path, fake_host).start()
    try:
        check_others_are_served(daemon)
        spared = daemon.connect()
        spared.send(request()[:20])
        reset_peak(daemon)
        before = rss_bytes(daemon)
        half, told = b"x" * (MIB - 1), 0
        greedy = [daemon.connect() for _ in range(1000)]
        for w in greedy:
            try:
                w.send(half)
            except OSError:
                pass
        for w in greedy[200:]:  # those that came too late were told
            told += code_of(w.receive()) == "daemon.busy"
        growth = peak_bytes(daemon) - before
        bound = ALL_HELD_BYTES * (4 if SANITIZED else 2)
        print(f"1,000 connections with a line of 1 MiB that does not end: {told} of the last 800 were "
              f"refused; growth at most {growth / MIB:.0f} MiB (bound {bound // MIB})")
        assert told == 800
        assert growth < bound
        spared.send(request()[20:])
        assert "result" in spared.receive()
        for w in greedy:
            w.close()
        check_others_are_served(daemon)
    finally:
        daemon.close()


def test_connections_over_the_limit_are_told_so_and_the_others_go_on(many_descriptors, tmp_path,
                                                                     fake_host):
    daemon = harness.Daemon(tmp_path, fake_host).start()
    try:
        held = [daemon.connect() for _ in range(1024)]
        for _ in range(76):
            hello, refusal = lines_of(connect_raw(daemon.socket))
            assert hello["aurabench"] == 1
            assert code_of(refusal) == "daemon.busy" and refusal["id"] is None
        assert "result" in held[0].call("daemon.status")
        held.pop().close()
        # Its place is free again as soon as the daemon has seen it go.
        while code_of_second(ask_and_leave(connect_raw(daemon.socket))) == "daemon.busy":
            pass
        for w in held:
            w.close()
    finally:
        daemon.close()


def test_a_flood_of_connections_leaves_nothing_behind(daemon):
    before = descriptors(daemon)

    def flood():
        for _ in range(250):
            connect_raw(daemon.socket).close()

    threads = [threading.Thread(target=flood) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    # The loop takes one for itself at the first connection.
    harness.wait_for(lambda: descriptors(daemon) <= before + 1, "the daemon has seen them go")
    check_others_are_served(daemon)


# ---- descriptors


def test_few_descriptors_mean_few_connections_and_jobs_still_run(tmp_path, fake_host, repo, suite,
                                                                 policy):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    daemon = harness.Daemon(tmp_path, fake_host)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        daemon.start()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    try:
        job = daemon.json("compare", "--repo", repo, "--before", "slow", "--after", "fast",
                          "--suite", suite, "--policy", policy, "--repetitions", 1)["id"]
        watcher = daemon.connect()
        watcher.call("job.watch", id=job)
        rest = [connect_raw(daemon.socket) for _ in range(300)]
        while not (message := watcher.receive())["params"]["final"]:
            pass
        assert message["params"]["state"] == "done"
        for s in rest:
            s.shutdown(socket.SHUT_WR)
        busy = [lines for lines in map(lines_of, rest) if len(lines) > 1]
        assert busy and all(code_of_second(lines) == "daemon.busy" for lines in busy)
        watcher.close()
    finally:
        daemon.close()


def limit_descriptors(daemon, n: int) -> None:
    _, hard = resource.prlimit(daemon.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(daemon.process.pid, resource.RLIMIT_NOFILE, (n, hard))


def test_without_a_descriptor_left_the_daemon_sleeps_serves_and_recovers(daemon):
    first = daemon.connect()
    assert "result" in first.call("daemon.status")
    soft, _ = resource.prlimit(daemon.process.pid, resource.RLIMIT_NOFILE)
    limit_descriptors(daemon, max(map(int, os.listdir(f"/proc/{daemon.process.pid}/fd"))) + 6)
    waiting = [connect_raw(daemon.socket) for _ in range(40)]
    harness.wait_for(lambda: "no connection can be accepted" in daemon.log.read_text(),
                     "the daemon has none left")
    check_sleeps(daemon)
    assert "result" in first.call("daemon.status")
    first.close()
    # As one leaves the next is served: in the end all have been.
    for s in waiting:
        assert ask_and_leave(s)[1]["id"] == 1
        s.close()
    limit_descriptors(daemon, soft)
    check_others_are_served(daemon)
    assert daemon.log.read_text().count("no connection can be accepted") < 40
