"""The wire as a stranger meets it: framing, envelopes, order, parameters, ends."""

import os
import socket

import pytest

import harness
from wiretools import GROWTH_MAX_BYTES, MIB, code_of, request, rss_bytes


# ---- hello and framing


def test_the_daemon_speaks_first(wire):
    assert set(wire.hello) == {"aurabench", "version", "host", "boot"}
    assert wire.hello["aurabench"] == 1
    assert wire.hello["host"] == "fake"


def test_a_line_may_come_one_byte_at_a_time(wire):
    for byte in request():
        wire.send(bytes([byte]))
    assert wire.receive()["id"] == 1


def test_half_a_line_waits_for_the_rest(wire):
    whole = request(ident="first") + request(ident="second")
    wire.send(whole[:40])
    wire.send(whole[40:-5])
    assert wire.receive()["id"] == "first"
    wire.send(whole[-5:])
    assert wire.receive()["id"] == "second"


def test_500_requests_in_one_write_are_answered_in_order(wire):
    wire.send(b"".join(request(ident=i) for i in range(500)))
    assert [wire.receive()["id"] for _ in range(500)] == list(range(500))


def test_a_slow_request_does_not_let_later_ones_pass(wire):
    methods = ["daemon.status", "host.quiet", "job.list", "host.quiet", "host.show"]
    wire.send(b"".join(request(m, m + str(i)) for i, m in enumerate(methods)))
    assert [wire.receive()["id"] for _ in methods] == [m + str(i) for i, m in enumerate(methods)]


def test_a_line_ends_with_a_newline_whatever_white_space_stands_before_it(wire):
    wire.send(request()[:-1] + b" \t\r\n")
    assert "result" in wire.receive()


def test_a_line_of_exactly_1_mib_is_taken_and_one_byte_more_is_not(wire):
    line = request()[:-1]
    wire.send(line + b" " * (MIB - len(line)) + b"\n")
    assert "result" in wire.receive()
    wire.send(line + b" " * (MIB + 1 - len(line)) + b"\n" + request(ident=2))
    refusal = wire.receive()
    assert code_of(refusal) == "rpc.too_long" and refusal["id"] is None
    assert wire.receive()["id"] == 2


def test_16_mib_without_a_newline_are_refused_once_and_not_kept(daemon, wire):
    before = rss_bytes(daemon)
    piece = b"x" * MIB
    for _ in range(16):
        wire.send(piece)
    assert code_of(wire.receive()) == "rpc.too_long"
    assert rss_bytes(daemon) - before < GROWTH_MAX_BYTES
    wire.send(b"\n" + request(ident=7))
    assert wire.receive()["id"] == 7


# ---- what is no message

NOT_JSON = {
    "nothing": b"",
    "an empty line of another system": b"\r",
    "a UTF-16 message": request()[:-1].decode().encode("utf-16"),
    "no JSON": b"hello",
    "half a document": b'{"jsonrpc":"2.0"',
    "two documents": b'{"jsonrpc":"2.0"}{}',
    "an array bomb": b"[" * 500_000,
    "an object bomb": b'{"a":' * 100_000,
    "33 levels": b"[" * 33 + b"]" * 33,
    "no UTF-8": b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}',
    "an overlong form": b'{"jsonrpc":"2.0","id":1,"method":"\xc0\xaf"}',
    "a surrogate": b'{"jsonrpc":"2.0","id":1,"method":"\xed\xa0\x80"}',
    "an escaped lone surrogate": b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}',
    "a byte order mark": b"\xef\xbb\xbf" + request()[:-1],
    "a NUL": b'{"jsonrpc":"2.0","id":1,"method":"a\x00b"}',
    "a NUL behind": request()[:-1] + b"\x00",
    "an escaped NUL": b'{"jsonrpc":"2.0","id":1,"method":"a\\u0000"}',
    "a raw control character": b'{"jsonrpc":"2.0","id":1,"method":"a\x01b"}',
    "a duplicate key": b'{"jsonrpc":"2.0","id":1,"id":2,"method":"daemon.status"}',
    "a duplicate key inside": b'{"jsonrpc":"2.0","id":1,"method":"job.list","params":{"limit":1,"limit":1}}',
    "a number with a leading zero": b'{"jsonrpc":"2.0","id":01,"method":"daemon.status"}',
    "a number that is too large": b'{"jsonrpc":"2.0","id":9007199254740992,"method":"daemon.status"}',
    "a number of half a million digits":
        b'{"jsonrpc":"2.0","id":' + b"9" * 500_000 + b',"method":"daemon.status"}',
    "a fraction of half a million digits":
        b'{"jsonrpc":"2.0","id":0.' + b"1" * 500_000 + b',"method":"daemon.status"}',
    "an infinite number": b'{"jsonrpc":"2.0","id":1e999,"method":"daemon.status"}',
    "a comment": b'{"jsonrpc":"2.0",/* */"id":1,"method":"daemon.status"}',
}

NO_REQUEST = {
    "an array": b"[]",
    "a batch": b"[" + request()[:-1] + b"]",
    "a string": b'"daemon.status"',
    "a number": b"1",
    "null": b"null",
    "no id": b'{"jsonrpc":"2.0","method":"daemon.status"}',
    "a null id": b'{"jsonrpc":"2.0","id":null,"method":"daemon.status"}',
    "an id with a fraction": b'{"jsonrpc":"2.0","id":1.5,"method":"daemon.status"}',
    "an id that is true": b'{"jsonrpc":"2.0","id":true,"method":"daemon.status"}',
    "an id that is an object": b'{"jsonrpc":"2.0","id":{},"method":"daemon.status"}',
    "an id of 65 bytes": b'{"jsonrpc":"2.0","id":"' + b"x" * 65 + b'","method":"daemon.status"}',
    "no version": b'{"id":1,"method":"daemon.status"}',
    "another version": b'{"jsonrpc":"1.0","id":1,"method":"daemon.status"}',
    "a version that is a number": b'{"jsonrpc":2.0,"id":1,"method":"daemon.status"}',
    "no method": b'{"jsonrpc":"2.0","id":1}',
    "a method that is a number": b'{"jsonrpc":"2.0","id":1,"method":5}',
    "a method of 65 bytes": b'{"jsonrpc":"2.0","id":1,"method":"' + b"m" * 65 + b'"}',
    "params that are an array": b'{"jsonrpc":"2.0","id":1,"method":"job.list","params":[]}',
    "params that are null": b'{"jsonrpc":"2.0","id":1,"method":"job.list","params":null}',
    "an unknown key": b'{"jsonrpc":"2.0","id":1,"method":"daemon.status","extra":1}',
    "a key in another case": b'{"jsonrpc":"2.0","ID":1,"method":"daemon.status"}',
    "a response": b'{"jsonrpc":"2.0","id":1,"result":{}}',
}


def check_refusal(answer, number, code):
    error = answer["error"]
    assert set(answer) == {"jsonrpc", "id", "error"}
    assert set(error) == {"code", "message", "data"} and set(error["data"]) == {"code", "field"}
    assert (error["code"], error["data"]["code"]) == (number, code), answer
    assert error["message"] and "\n" not in error["message"]


def test_what_is_not_json_is_answered_once_and_the_connection_goes_on(wire):
    for name, line in NOT_JSON.items():
        wire.send(line + b"\n" + request(ident=name))
        refusal = wire.receive()
        check_refusal(refusal, -32700, "rpc.parse")
        assert refusal["id"] is None, name
        assert wire.receive()["id"] == name


def test_what_is_no_request_is_answered_once_and_the_connection_goes_on(wire):
    for name, line in NO_REQUEST.items():
        wire.send(line + b"\n" + request(ident=name))
        check_refusal(wire.receive(), -32600, "rpc.invalid")
        assert wire.receive()["id"] == name


@pytest.mark.parametrize("ident", [0, 1, -1, 2**53 - 1, -(2**53 - 1), "", "x" * 64, "ü→\"\\\n", "7"])
def test_an_id_comes_back_as_it_was(wire, ident):
    wire.send(request(ident=ident))
    assert wire.receive()["id"] == ident
    wire.send(request("no.such", ident=ident))
    refused = wire.receive()
    check_refusal(refused, -32601, "rpc.unknown_method")
    assert refused["id"] == ident


# ---- parameters

METHODS = {
    "daemon.status": [], "job.submit": ["job", "policy"], "job.list": ["limit", "before", "states"],
    "job.show": ["id"], "job.document": ["id", "offset"], "job.cancel": ["id"], "job.watch": ["id"],
    "job.log": ["id", "offset", "limit"],
    "report.get": ["id", "format", "width", "colour", "offset"],
    "report.page": ["session", "jobs", "targets", "offset"],
    "session.open": ["session", "jobs"], "session.add": ["id", "job", "policy"],
    "session.show": ["id", "limit", "after"], "session.list": ["limit", "before"],
    "session.close": ["id"], "session.report": ["id", "offset"], "host.show": [],
    "host.quiet": ["policy"], "source.missing": ["commits"],
    "upload.begin": ["kind", "bytes", "sha256", "commits"], "upload.chunk": ["offset", "data"],
    "upload.end": [],
}
REQUIRED = {
    "job.submit": "job", "job.show": "id", "job.cancel": "id", "job.watch": "id", "job.log": "id",
    "job.document": "id", "session.open": "session", "session.add": "id", "session.show": "id",
    "session.close": "id", "session.report": "id",
    "report.get": "format", "upload.begin": "kind", "upload.chunk": "data",
}


def test_every_method_refuses_a_parameter_it_does_not_know(wire):
    for method in METHODS:
        answer = wire.call(method, surprise=1)
        check_refusal(answer, -32602, "json.unknown_key")
        assert answer["error"]["data"]["field"] == "surprise"


def test_a_missing_parameter_is_named(wire):
    for method, name in REQUIRED.items():
        answer = wire.call(method)
        check_refusal(answer, -32602, "json.missing")
        assert answer["error"]["data"]["field"] == name


def test_no_method_takes_a_parameter_of_another_type(wire):
    for method, names in METHODS.items():
        for name in names:
            for value in (True, 1.5, -1, 10**15, "\u202e", [1], [[]], {"a": 1}, "x" * 70000):
                answer = wire.call(method, **{name: value})
                if name == "colour" and value is True:
                    continue
                assert "error" in answer, (method, name, str(value)[:20], answer)
                assert answer["error"]["code"] in (-32602, -32000), (method, name, answer)
                assert code_of(answer) != "rpc.internal"


def test_a_policy_must_be_a_name_or_a_document(wire):
    for value in (5, True, ["standard"]):
        answer = wire.call("host.quiet", policy=value)
        check_refusal(answer, -32602, "json.type")
        assert answer["error"]["data"]["field"] == "policy"
    assert code_of(wire.call("host.quiet", policy="no-such")) == "policy.not_found"
    assert code_of(wire.call("host.quiet", policy={"name": 1})) == "json.missing"


# ---- ends and pauses


def test_a_half_closed_connection_still_gets_every_answer_and_then_its_end(daemon):
    wire = daemon.connect()
    wire.send(request(ident=1) + request("host.quiet", 2) + request("no.such", 3) +
              request("host.show", 4) + b'{"half a line')
    wire.socket.shutdown(socket.SHUT_WR)
    assert [wire.receive()["id"] for _ in range(4)] == [1, 2, 3, 4]
    assert wire.receive() is None
    wire.close()


def test_a_half_closed_watcher_stays_until_its_job_ends(daemon, compare):
    job = compare("--repetitions", 2)
    wire = daemon.connect()
    wire.send(request("job.watch", id=job))
    wire.socket.shutdown(socket.SHUT_WR)
    lines = []
    while (message := wire.receive()) is not None:
        lines.append(message)
    assert lines[0]["id"] == 1
    if lines[0]["result"]["job"]["state"] != "done":
        assert lines[-1]["params"]["final"] is True and lines[-1]["params"]["state"] == "done"
        assert [m["params"]["final"] for m in lines[1:-1]] == [False] * (len(lines) - 2)
    wire.close()


def test_who_watches_a_job_that_is_over_is_answered_and_let_go(daemon, compare):
    job = compare("--repetitions", 1)
    daemon.finish(job)
    wire = daemon.connect()
    wire.send(request("job.watch", id=job))
    wire.socket.shutdown(socket.SHUT_WR)
    assert wire.receive()["result"]["job"]["state"] == "done"
    assert wire.receive() is None
    wire.close()


def test_a_watcher_of_a_waiting_job_that_leaves_is_not_kept(daemon, fake_host, compare):
    fake_host.burner()
    job = compare("--policy", "standard")  # tried again in minutes: nothing is said until then
    daemon.until(job, "waiting")
    before = len(os.listdir(f"/proc/{daemon.process.pid}/fd"))
    for _ in range(20):
        wire = daemon.connect()
        assert wire.call("job.watch", id=job)["result"]["job"]["state"] == "waiting"
        wire.close()
    harness.wait_for(lambda: len(os.listdir(f"/proc/{daemon.process.pid}/fd")) <= before,
                     "the watchers' connections are closed")
    daemon.run("cancel", job)


def test_a_client_that_never_reads_is_not_read_from_and_others_are_served(daemon, wire):
    before = rss_bytes(daemon)
    wire.socket.settimeout(1)
    wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    one = request("host.show", ident=1)
    block, sent = one * (MIB // len(one)), 0
    with pytest.raises(TimeoutError):
        for _ in range(64):
            view = memoryview(block)
            while view:
                n = wire.socket.send(view)
                sent += n
                view = view[n:]
    other = daemon.connect()
    assert "result" in other.call("daemon.status")
    other.close()
    assert rss_bytes(daemon) - before < GROWTH_MAX_BYTES
    # Now it reads, and gets all that it asked for.
    wire.socket.settimeout(harness.PATIENCE_S)
    for _ in range(sent // len(one)):
        assert "result" in wire.receive()


def test_a_watcher_that_does_not_read_harms_nobody(daemon, compare):
    deaf = daemon.connect()
    job = compare("--repetitions", 3)
    deaf.send(request("job.watch", id=job) + request("host.show") * 3000)
    listener = daemon.connect()
    shown = listener.call("job.watch", id=job)["result"]["job"]
    while shown["state"] != "done":
        message = listener.receive()
        shown = message["params"]
    assert daemon.finish(job)["job"]["state"] == "done"
    deaf.close()
    listener.close()


def test_one_connection_watches_at_most_64_jobs(daemon, fake_host, compare, wire):
    fake_host.burner()  # so that none of them runs
    first = daemon.show(compare())["document"]
    for i in range(65):
        document = dict(first, id="01HZZZZZZZZZZZZZZZZZZZZ" + f"{i:03d}")
        assert wire.call("job.submit", job=document, policy=harness.quick_policy())["result"]
        answer = wire.call("job.watch", id=document["id"])
        assert ("error" in answer) == (i == 64), answer
    assert code_of(answer) == "job.too_many_watched"
    for i in range(65):
        wire.call("job.cancel", id="01HZZZZZZZZZZZZZZZZZZZZ" + f"{i:03d}")


def test_a_client_that_leaves_in_the_middle_of_a_slow_request_is_forgotten(daemon):
    for _ in range(20):
        wire = daemon.connect()
        wire.send(request("host.quiet") * 3)
        wire.close()
    assert daemon.json("status")["active"] is None
