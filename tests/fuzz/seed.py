#!/usr/bin/env python3
"""Makes the seeds of the fuzz targets anew: seed.py BUILD [FOLDER].

Seeds come from what the repository has (documents, shipped policies, fixtures) and from a real daemon on
a scripted host, whose answers and evidence are taken; BUILD is a build folder with the programs. They
are written as FOLDER/<target>/seed-* (tests/fuzz/corpus), in place of those that are there. Inputs
with other names were found by fuzzing and are left alone. Run it when a document gets a new member.
"""

import base64
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOSTS = ROOT / "tests/fixtures/hosts"
SEED_BYTES_MAX = 26000  # a seed that is larger slows down more than it finds
ULID = "01KB9XK3Q8Z4T1V7N5M2C0D6EF"


class Seeds:
    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        for old in folder.glob("*/seed-*"):
            old.unlink()

    def put(self, target: str, name: str, data: bytes | str) -> None:
        data = data.encode() if isinstance(data, str) else data
        if len(data) > SEED_BYTES_MAX:
            print(f"left out: {target}/{name} has {len(data)} bytes")
            return
        path = self.folder / target / f"seed-{name}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def compact(document) -> str:
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False)


# ---- what stands in the repository


def documents(s: Seeds) -> None:
    targets = {"suite": "suite", "policy": "policy", "job_file": "job", "session_file": "session"}
    for page in ("guide", "suites"):
        text = (ROOT / f"docs/{page}.md").read_text()
        for i, (name, block) in enumerate(re.findall(r"<!-- check: (\w+) -->\n```json\n(.*?)\n```", text, re.S)):
            if name in targets:
                s.put(targets[name], f"{page}-{i}", block)
            elif name == "targets":
                s.targets = block
    for policy in (ROOT / "proto/policy").glob("*.json"):
        s.put("policy", policy.stem, policy.read_text())
    for suite in (ROOT / "workloads").glob("*/suite.json"):
        s.put("suite", suite.parent.name, suite.read_text())


def json_texts(s: Seeds) -> None:
    texts = {"scalars": '[null,true,false,0,-0,1.5e-7,1E+2,9007199254740991,"",[],{}]',
             "strings": r'["\u00e9\ud83d\ude00\n\t\"\\\/\b\f\r","é😀"]',
             "object": '{"b":1, "a":{"":[]},\n"é":"x"}', "deep": "[" * 32 + "]" * 32,
             "too_deep": "[" * 33 + "]" * 33, "duplicate": '{"a":{"x":1,"x":2}}', "long": '"123456789"',
             "large": "[1e308,4.9e-324,123456789012345678]"}
    for name, text in texts.items():
        s.put("json", name, b"\0" + text.encode())
        s.put("json", name + "-bound", b"\1" + text.encode())
    s.put("json_write", "kinds", b"\0text \xc3\xa9\xff\n\1\xff\xff\xff\xff\xff\xff\x1f\0\2\1\0\0\0\0\0\0\x80"
          b"\3\x01\0\0\0\0\0\xf0\x3f\3\x01\0\0\0\0\0\xf8\x7f\4\1\5\6\2one\ntwo\n")


def counters(s: Seeds) -> None:
    lines = [f"COUNTER {name} {value}\n" for name, value in (("allocations", 12), ("retains", 0),
                                                             ("releases", 9007199254740991), ("a", 7))]
    s.put("counters", "one", b"\0" + lines[0].encode())
    s.put("counters", "all", b"\3" + "".join(reversed(lines)).encode())
    s.put("counters", "twice", b"\1" + (lines[0] * 2).encode())


def samples(s: Seeds) -> None:
    late = [f"SAMPLE overshoot {index} {value}\n" for index, value in enumerate((51000, 0, 9007199254740991))]
    span, one = "SAMPLE arm_span 0 120\n", "SAMPLE a 0 7\n"
    s.put("samples", "one", b"\0" + "".join(late).encode())
    s.put("samples", "all", b"\2" + (one + span + "".join(late)).encode())
    s.put("samples", "twice", b"\1" + (late[0] * 2).encode())
    s.put("samples", "gap", b"\1" + (late[0] + late[2]).encode())
    s.put("samples", "long", b"\0" + late[0].encode() + b"SAMPLE " + b"x" * 600 + b"\n")


def programs(s: Seeds) -> None:
    """Small ones: a table of four sections of which two name a library and a symbol."""
    section = lambda kind, at, size, link: struct.pack("<IIQQQQIIQQ", 0, kind, 0, 0, at, size, link, 0, 0, 0)
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, 64, 0, 64, 0, 0, 64, 4, 0)
    names = b"\0liba.so\0open\0\0\0"
    dynamic = struct.pack("<QQQQ", 1, 1, 0, 0)
    symbols = bytes(24) + struct.pack("<IBBHQQ", 9, 0, 0, 0, 0, 0)
    table = bytes(64) + section(3, 320, 16, 0) + section(6, 336, 32, 1) + section(11, 368, 48, 1)
    whole = head + table + names + dynamic + symbols
    s.put("elf", "small", whole)
    s.put("elf", "cut", whole[:400])
    s.put("elf", "stripped", whole[:60] + struct.pack("<HH", 2, 0) + whole[64:])


def callgrind(s: Seeds) -> None:
    s.put("callgrind", "whole", "fn=(482)\n0 6\n\ntotals: 234394\n")
    s.put("callgrind", "cut", "fn=(482)\n0 6\n\ntotals: 234")


def profiles(s: Seeds) -> None:
    """What the profilers wrote (tests/fixtures/profiles), cut to their first lines, and small ones by hand."""
    folder = ROOT / "tests/fixtures/profiles"
    whole = "events: Ir\nob=(1) libc.so\nfn=(1) main\n1 4\ncfn=(2) f\ncalls=1 2\n+1 9\nfn=(2)\n* 9\ntotals: 13\n"
    s.put("profile", "callgrind", b"\0" + whole.encode())
    s.put("profile", "callgrind-cut", b"\0" + whole.encode()[:-9])
    instructions = (folder / "work-instructions.callgrind").read_text().splitlines(True)
    s.put("profile", "callgrind-instructions", b"\0" + "".join(instructions[:120]).encode())
    for name in ("work", "work-calls"):
        lines = (folder / f"{name}.perf-script").read_text().splitlines(True)
        s.put("profile", name, b"\1" + "".join(lines[:12]).encode())
    s.put("profile", "xctrace", b"\2" + (folder / "time-profile.xml").read_bytes())
    small = ("<r><schema name='time-profile'/><row><sample-time id='1'>5000000</sample-time><thread id='2' fmt='T'/>"
             "<backtrace id='3'><frame id='4' name='m&lt;n'><binary id='5' path='/x/f'/></frame></backtrace></row>"
             "<row><sample-time ref='1'/><backtrace ref='3'/><!-- --></row><row><sample-time ref='1'/></row></r>")
    s.put("profile", "xctrace-small", b"\2" + small.encode())
    head = "samples\tstate\tsymbol\tobject\tprocess\tthread\n"
    lines = ["7\t-\t\\-\t\tfib\t\\-\n", "12\t-\tmain\t/lib/libc.so.6\tfib\tmain\n",
             "3\tkernel\tfault\t[kernel.kallsyms]\tfib\tmain\n",
             "1\tkernel,suspended,outside\ta\\x5cb\\x09\\xc3\\xa9\tx\tp\tt\n",
             "9007199254740000\toutside\tz\t/x/f\tp\tt\n", "1\tsuspended\tz\tx\tp\tt\n"]
    s.put("tally", "whole", head + "".join(lines))
    s.put("tally", "empty", head)
    s.put("tally", "order", head + lines[1] + lines[0])
    s.put("tally", "cut", (head + lines[0])[:-3])
    s.put("tally", "many", head + "9007199254740990\t-\ta\tb\tc\td\n" + "2\t-\tb\tb\tc\td\n")


def times(s: Seeds) -> None:
    s.put("times", "words", "10m\n250ms\n366d\n0s\n2026-12-01T01:00:00Z\n9999-12-31T23:59:59Z\n"
          f"Europe/London\nGMT0BST,M3.5.0/1,M10.5.0\n<+0330>-3:30<+0430>,J79/24,J263/24\n{ULID}\n"
          "IST-2IDT,M3.4.4/26,M10.5.0\nUTC0\n" + "0123456789abcdef" * 4 + "\n")
    window = b"mon-fri\n01:00\n05:00\n"
    instants = struct.pack("<6I2q", 0, 1711846800, 1729990800, 1704067200, 4102444800, 86399, -10 ** 12, 2 ** 40)
    # Few and short: files of version 2 or later, cut to what the package's newer ones hold.
    for name in ("Asia/Kolkata", "Etc/GMT+5", "Africa/Abidjan", "Pacific/Apia", "Asia/Kathmandu"):
        path = pathlib.Path("/usr/share/zoneinfo", name)
        if path.exists():
            s.put("zone", name.replace("/", "-"), b"\1" + instants + window + path.read_bytes())
    for i, (days, rule) in enumerate([("daily\n00:00\n00:00\n", "GMT0BST,M3.5.0/1,M10.5.0"),
                                      ("sat,sun\n22:30\n02:15\n", "IST-2IDT,M3.4.4/26,M10.5.0"),
                                      ("fri-mon\n02:30\n02:45\n", "")]):
        changes = struct.pack("<i", 1700000000) + bytes(3 * 3) + struct.pack("<4h", 0, 1200, -1200, 600)
        s.put("zone", f"made-{i}", b"\0" + instants + days.encode() + b"\3" + changes + rule.encode() + b"\n")


def hosts(s: Seeds) -> None:
    kinds = {"stat": 0, "totals": 1, "status": 2, "numbers": 3, "texts": 4}
    files = {"stat": ["proc/812/stat", "proc/2/stat"], "totals": ["proc/stat"], "status": ["proc/812/status"],
             "numbers": ["proc/meminfo", "proc/vmstat", "proc/uptime"],
             "texts": ["proc/cpuinfo", "etc/os-release", "proc/mounts", "proc/812/cmdline"]}
    for host in ("laptop", "guest-2core"):
        for kind, paths in files.items():
            for path in paths:
                s.put("proc", f"{host}-{path.replace('/', '-')}", bytes([kinds[kind]]) + (HOSTS / host / path).read_bytes()[:3000])
    for host in sorted(HOSTS.iterdir()):
        if not host.is_dir():
            continue
        parts = []
        for path in sorted(host.rglob("*")):
            name = "/" + str(path.relative_to(host))
            if re.match(r"/proc/\d", name) or path.name == ".gitkeep" or not (path.is_file() or path.is_symlink()):
                continue
            text = os.readlink(path).encode() if path.is_symlink() else path.read_bytes()[:700]
            parts.append(name.encode() + b"=" + text)
        s.put("host_facts", host.name, b"\0".join(parts))
    s.put("fake_host", "all", "name box\ncores 4\ntick_ns 10000000\nboot_id b-2\nwall_offset_ms 86400000\n\0"
          "# comment\nmains known 1 on\ngovernor known - performance\nboost unknown - why\nsteal_pct 1.5\n"
          "virtual absent - x\n\0"
          "4711 1 1000 1 98 burner / burner --hot\n12 1 0 5 ? hidden ?\n13 12 0 900 0.1 cc1 /src/aura cc1 x.c\n"
          "busy_pct 12.5\ncpu_busy_pct 1 3\nforks_per_second 40\nhidden\npartial somebody hides\n")
    s.put("fake_host", "quiet", "\0\0")


def sums(s: Seeds) -> None:
    sha = "0123456789abcdef" * 4
    s.put("sums", "manifest", f"\0{sha}  a\n\\{sha}  b\\nc\n{sha}  logs/x y.txt\n")
    s.put("sums", "name", "\1logs/deep/er.txt")
    s.put("sums", "signature", f"\2aurabench-ed25519 1 {sha} {base64.b64encode(bytes(range(64))).decode()}\n")
    s.put("sums", "base64", "\3" + base64.b64encode(b"any carnal pleas").decode())
    pack = b"aurabench-suite-pack 1\n"
    for path, mode, data in (("run.sh", b"100755", b"#!/bin/sh\n"), ("suite.json", b"100644", b"{}"),
                             ("sub/empty", b"100644", b"")):
        pack += path.encode() + b"\0" + mode + b"\0" + str(len(data)).encode() + b"\0" + data
    s.put("pack", "three", pack)
    s.put("pack", "none", b"aurabench-suite-pack 1\n")


def addresses(s: Seeds) -> None:
    for i, url in enumerate(("ssh://bench", "ssh://me@bench.example.org:2222", "ssh://[fe80::1%eth0]:22/",
                             "ssh://-oProxyCommand=x", "/run/aurabench/sock", "ssh://a@b@c")):
        s.put("address", str(i), url)


def kernels(s: Seeds, build: pathlib.Path) -> None:
    """Sources of the portable kernel, and artifacts without the head and the sum that the target makes."""
    examples = ROOT / "workloads/portable-kernel/example"
    made = {"words": ("1", "fn f(x: int): int { if x < 2 { x } else { f(x - 1) * 2 } }\n"
                           "fn main(x: int): int { let y: map<int> = map{\"a\": x, \"\\u{e9}\": -1}; "
                           "loop n = y[\"a\"] while n < 9 and not (n == 7) or false { n + 1 } + f(x) % 3 / 2 }\n"
                           "pipeline p = main | f;\n"),
            "values": ('{"l":["x","y"],"m":{"k":true}}',
                       "type T = {l: list<string>, m: map<bool>};\n"
                       "fn main(t: T): {t: T, n: int, s: string} {\n"
                       "  let u = t with {l: push(slice(t.l, 0, 1), \"z\") ++ [str(len(t.l))]};\n"
                       "  {t: u, n: fold i in range(0, 3) from a = 0 { max(a, min(i, 2)) },\n"
                       "   s: match u.l[0] { \"x\" => \"is x\", _ => if has(u.m, \"k\") { \"k\" } else { \"\" } }}\n}\n"),
            "keys": ("[]", "fn main(x: list<int>): list<string> { keys(put(map{\"b\": 1}, \"a\", get(map{\"c\": 2}, \"c\", 3))) }\n")}
    for path in sorted(examples.glob("*.pk")):
        text = re.sub(r"\bfn (reduce|sums)\b", "fn main", path.read_text()).replace("reduce", "main")
        made[path.stem] = (compact(json.loads((examples / f"{path.stem}-input.json").read_text())), text)
    for name, (value, text) in made.items():
        s.put("kernel", f"source-{name}", b"\0" + value.encode() + b"\n" + text.encode())
        with tempfile.NamedTemporaryFile(suffix=".pk") as f:
            pathlib.Path(f.name).write_text(text)
            artifact = subprocess.run([str(build / "aurabench-kernel"), "compile", f.name], check=True,
                                      capture_output=True).stdout
        s.put("kernel", f"artifact-{name}", b"\1" + value.encode() + b"\n" + artifact[72:-32])
    for path in sorted((ROOT / "tests/fixtures/kernel").glob("*.json")):
        s.put("kernel_talk", path.stem, b"\1" + path.read_bytes())
    hello = json.loads(subprocess.run([str(build / "aurabench-kernel")], input=b"", capture_output=True).stdout)
    digest = hello["opcodeAbiFingerprint"]
    for name, decode in (("talk", [{"samples": "decode", "ns": [80, 79]}, {"done": "decode"}]),
                         ("talk-browser", [{"done": "decode", "measurable": False}])):
        lines = [{**hello, "target": "browser" if "b" in name else "native", "initializationNs": 5 if "b" in name else None},
                 {"samples": "compile", "ns": [410, 205], "digest": digest}, {"samples": "compile", "ns": [200], "digest": digest},
                 {"done": "compile", "artifactBytes": 2097}, *decode, {"samples": "firstDispatch", "ns": [36], "digest": digest},
                 {"samples": "dispatch", "worker": 1, "ns": [30], "digest": digest},
                 {"samples": "dispatch", "worker": 0, "ns": [31, 30], "digest": digest}, {"done": "dispatch", "batchWallNs": 90, "workers": 2}]
        s.put("kernel_talk", name, b"\0\1\2\1" + "\n".join(map(compact, lines)).encode() + b"\n")
        s.put("kernel_talk", name + "-error", b"\0\1\2\1" + compact(lines[0]).encode() + b'\n{"error":"line 1: what?"}\n')
    s.put("kernel", "whole", b"\2" + value.encode() + b"\n" + artifact)


# ---- messages to and from the runner (proto/wire/runner_wire.h)


def wire_frame(kind: int, fields: list) -> bytes:
    body = struct.pack("<H", kind)
    for tag, value in enumerate([7, *fields], 1):
        for item in value if isinstance(value, list) else [value]:
            if item is None:
                continue
            data = struct.pack("<q", item) if isinstance(item, int) else item if isinstance(item, bytes) else item.encode() + b"\0"
            body += struct.pack("<HI", tag, len(data)) + data
    return struct.pack("<I", len(body)) + body


def wire_frames() -> dict[str, bytes]:
    end = ["ok", 0, 0, 0, None, 0, None, None, 1000, 2000]
    audit = [1, 0, 0, 800, 700, 90, 0, 3, 0, 0, -1, 5, -1, 0]
    counters = [100, 900, 5, 6, 7, *audit, 8, 9, 10, 11, 12, 13, 14, 40, 0, -1, 0, 1]
    failed = ["lane.done_wrong", -1, 9, 2, "execve", 2, "12 (x)", "13 (y)", -1, -1]
    return {
        "hello": wire_frame(1, [1, 4711]),
        "sources": wire_frame(7, ["cpuacct", "cgroup", "schedstat", "stat", "psi", None, "absent", 100000, 10**7]),
        "exec": wire_frame(2, [["make", "-C", "/src"], ["PATH=/bin"], "/", "/log", 1 << 20, 1000]),
        "observe": wire_frame(3, [["./lane"], ["PATH=/bin", "TZ=UTC"], "/", 1, "READY", "GO", "DONE", b"out", 0, 1 << 20, 1 << 16,
                                  1000, 1000, bytes(128), -1, bytes(128), "BASELINE", "LOAD", 1, 0, "ACK", 1 << 18]),
        "cancel": wire_frame(4, []),
        "exec-result": wire_frame(5, [*end, 10, 10, 0, 0, b"tail\xff\0"]),
        "observe-result": wire_frame(6, [*end, *counters, b"READY", b"DONE", None, None, None]),
        "observe-failed": wire_frame(6, [*failed, *counters, b"READY\x1b[2J", b"D\xff", b"x\0y", b"\xc3", b"err"]),
    }


def pieces(data: bytes, size: int) -> bytes:
    return b"".join(bytes([len(data[i:i + size])]) + data[i:i + size] for i in range(0, len(data), size))


def runner(s: Seeds) -> None:
    frames = wire_frames()
    for name, frame in frames.items():
        s.put("wire", name, b"\0" + frame)
    s.put("wire", "request-exec", b"\1" + struct.pack("<qq", 1 << 20, 1000) + b"\2./x\n-v\n\1A=b\n/\n/log\n")
    s.put("wire", "request-observe", b"\2\0\0\1\2\1\0\3\0" + struct.pack("<qq", 0, 1000) + b"\1./x\n\1A=b\n/\nREADY\nGO\nDONE\n\0")
    stream = frames["exec"] + frames["cancel"] + frames["observe"]
    s.put("runner", "frames", b"\1" + pieces(stream, 9))
    s.put("runner", "frames-cancel", b"\1" + pieces(frames["observe"], 200) + b"\xff\1" + b"\1" + pieces(frames["cancel"], 64) + b"\0")
    s.put("runner", "records", b"\0" + pieces(b"READY tiny\n", 4) + pieces(b"DONE tiny 42\nmore", 30))
    s.put("runner", "records-late", b"\0" + pieces(b"REA", 3) + b"\xff\2" + pieces(b"DY\n", 3) + b"\0")
    s.put("runner", "records-long", b"\0" + pieces(b"x" * 600, 250))


def frames(s: Seeds) -> None:
    s.put("frame", "lines", pieces(b'{"id":1}\n{"id":2}\n\n', 5))
    s.put("frame", "over", b"\x8f\x81\1\n" + pieces(b"{}\n", 3))
    s.put("frame", "exact", b"\x8f\1\n")


# ---- git's answers


def answer(output: bytes, status: int = 0) -> bytes:
    return bytes([status]) + struct.pack("<H", len(output)) + output


def git_answers(s: Seeds) -> None:
    one, two = b"0123456789abcdef0123456789abcdef01234567", b"fedcba9876543210fedcba9876543210fedcba98"
    blob = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345678\n"
    tree = b"100644 blob " + one + b"\tx.c\0" + b"100644 blob " + two + b"\t.gitattributes\0"
    sized = b"100644 blob " + one + b"     130\tbig.bin\0"
    attributes = two + b" blob 38\n*.bin filter=lfs diff=lfs merge=lfs text\n" + b"\n"
    diff = b"diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,3 +1,4 @@ f\n a\n-b\n+c\n+d\n e\n"
    s.put("git", "repo", b"\0" + answer(b"false\ntrue\nfalse\nsha1\n") + answer(b"", 1))
    s.put("git", "resolve", b"\1" + answer(b"", 1) * 5 + answer(one + b"\n"))
    s.put("git", "resolve-id", b"\2" + answer(b"", 1) * 5 + answer(one + b"\n" + two + b"\n"))
    s.put("git", "clean", b"\3" + answer(b"refs/heads/main\n") * 2 + answer(b"", 1) + answer(b" M x.c\0?? new \xff\0"))
    s.put("git", "commit", b"\4" + answer(tree) + answer(attributes) + answer(sized) + answer(one + b" blob 130\n" + blob + b"\n"))
    s.put("git", "covers", b"\5" + answer(b"false\ntrue\nfalse\nsha1\n") + answer(b"", 1) + (answer(b"", 1) * 5 + answer(one + b"\n")) * 2
          + answer(b"x") + answer(b"x") + answer(b"src/a.c\0src/b\nc\0"))
    s.put("git", "bundle", b"\6" + answer(b"/src/.git/objects\n") + answer(two + b" commit\n"))
    s.put("source", "tree", b"\0" + answer(tree))
    s.put("source", "submodule", b"\0" + answer(b"160000 commit " + one + b"\tsub\x1b\0"))
    s.put("source", "commits", b"\1" + answer(b"") + answer(b"", 1) + answer(one + b"\n") + answer(one + b"\n" + two + b"\n"))
    head = b"# v2 git bundle\n-" + two + b" base\n" + one + b" refs/aurabench/commits/" + one + b"\n\nPACK"
    s.put("source", "bundle", b"\2" + struct.pack("<H", len(head)) + head + answer(b"") + answer(b"pack\n") + answer(one + b" commit\n") + answer(b"") * 2)
    s.put("source", "difference", b"\3" + diff + diff.replace(b"+d", b"+f"))
    s.put("source", "refusal", b"\4" + answer(b"x\0") + answer(diff) + answer(diff.replace(b"+c", b"+g")))
    s.put("source", "correction", b"\5" + answer(b"") * 3 + answer(one + b"\n") + answer(b"") * 2 + answer(two + b"\n") * 2
          + answer(b"2\t1\tx\n-\t-\tbin\n"))
    tracked = b"100644 blob " + one + b"\tbig.bin\0" + b"100644 blob " + two + b"\t.gitattributes\0"
    s.put("source", "checkout", b"\6" + answer(b"") + answer(tracked) + answer(b"") * 3 + answer(one + b"\n") + answer(b"", 1)
          + answer(b"") + answer(b"big.bin\0filter\0lfs\0"))
    s.put("source", "checkout-good", b"\6" + answer(b"") + answer(tracked[:60]) + answer(b"") * 3 + answer(one + b"\n")
          + answer(b"", 1) + answer(b""))


# ---- a real daemon


class Recorded:
    """Answers to requests, as the client's commands ask them, and the evidence of a few jobs."""

    def __init__(self, build: pathlib.Path, folder: pathlib.Path):
        os.environ["AURABENCH_BUILD"] = str(build)
        sys.path.insert(0, str(ROOT / "tests/e2e"))
        import calibrations
        import harness

        self.folder = folder
        self.fake = harness.FakeHost(folder / "host")
        self.daemon = harness.Daemon(folder, self.fake).start()
        calibrations.put(self.daemon, groups=1)
        self.wire = self.daemon.connect()
        repo = folder / "repo"
        harness.make_repo(repo, {"slow": {"run.py": harness.lane_program(20000)},
                                 "fast": {"run.py": harness.lane_program(1000)}})
        suite = harness.tiny_suite(folder / "suite")
        policy = folder / "quick.json"
        policy.write_text(json.dumps(harness.quick_policy()))
        session = folder / "session.json"
        session.write_text(json.dumps({
            "schema": "aurabench.session.v1", "label": "nightly", "boot": "same",
            "jobs": [{"schema": "aurabench.job.v1", "label": "a", "suite": {"path": str(suite)}, "repetitions": 1, "warmups": 0,
                      "sources": {"before": {"repo": str(repo), "rev": "slow"}, "after": {"repo": str(repo), "rev": "fast"}}}]}))
        self.job = self.daemon.json("session", "open", session, "--policy", policy)["jobs"][0]
        self.daemon.finish(self.job)
        run = self.daemon.json("run", "--repetitions", "1", "--warmups", "0", "--policy", policy, "--", "true", "--vs", "true")
        self.run = run["job"]["id"] if "job" in run else run["id"]
        self.daemon.finish(self.run)
        weighed = harness.make_suite(folder / "values", [
            {"name": "heap", "measure": "counters", "counters": ["allocations", "retains"],
             "lanes": {"c": {"command": ["{suite}/count"]}}},
            {"name": "weight", "measure": "size", "lanes": {"c": {"files": {"data": "{suite}/count"},
                                                                  "baselines": {"data": 10}}}},
            {"name": "held", "measure": "memory", "baseline": "BASELINE", "load": "LOAD", "ready": "READY", "go": "GO",
             "done": "DONE", "lanes": {"c": {"command": ["{suite}/stand", "BASELINE"]}}},
            {"name": "idle", "measure": "cpu", "window_ms": 100, "ready": "READY", "go": "GO", "done": "DONE",
             "lanes": {"c": {"command": ["{suite}/stand"], "cpus": 1}}},
            {"name": "late", "measure": "protocol", "ready": "READY", "go": "GO", "done": "DONE", "ack": "ACK",
             "samples": [{"name": "overshoot", "unit": "ns", "max": 3, "min": 1, "p99_max": 900},
                         {"name": "count", "unit": "count", "max": 1}],
             "lanes": {"one": {"command": ["{suite}/sample"]},
                       "two": {"command": ["{suite}/sample"], "scaling": {"of": "one", "tasks": 2, "max_ratio": 0.6}}}}],
            {"sample": "#!/bin/sh\nfor line in READY DONE; do echo $line; read next; done\n"
                       "echo SAMPLE overshoot 0 700\necho SAMPLE count 0 3\necho SAMPLE overshoot 1 0\n",
             "stand": "#!/bin/sh\nfor line in $1 READY DONE; do echo $line; read next; done\nexit 0\n", "count": "#!/bin/sh\necho COUNTER allocations 12\necho COUNTER retains 0\n"})
        job = harness.job_file(folder / "values.json", suite={"path": str(weighed)})
        self.values = self.daemon.json("submit", job, "--policy", policy)["id"]
        self.daemon.finish(self.values)
        stand = "#!/bin/sh\nfor line in READY DONE; do echo $line; read next; done\nexit 0\n"
        varied = harness.make_suite(folder / "varied", [
            {"name": "held", "measure": "memory", "ready": "READY", "go": "GO", "done": "DONE",
             "lanes": {"c": {"command": ["{suite}/stand"]}, "k": {"command": ["{suite}/stand"], "control": True}}}],
            {"stand": stand})
        job = harness.job_file(folder / "varied.json", suite={"path": str(varied)}, repetitions=6)
        self.varied = self.daemon.json("submit", job, "--policy", policy)["id"]
        self.daemon.finish(self.varied)
        self.receipts = [json.loads(self.result("kernel.put", machine="lab-3", receipt=(ROOT / "tests/fixtures/kernel" / name).read_text()))["id"]
                         for name in ("harn-native.json", "native.json")]
        self.fake.burner()
        self.waiting = self.daemon.json("compare", "--repo", repo, "--before", "slow", "--after", "fast", "--suite", suite,
                                        "--policy", policy)["id"]
        self.daemon.until(self.waiting, "waiting")

    def result(self, method: str, **params) -> str:
        answer = self.wire.call(method, **params)
        return self.tidy(compact(answer["result"]) if "result" in answer else "!" + answer["error"]["message"])

    def tidy(self, text: str) -> str:
        return text.replace(str(self.folder), "/src")

    def close(self) -> None:
        self.wire.close()
        self.daemon.run("cancel", self.waiting)
        self.daemon.close()


def evidence(s: Seeds, r: Recorded) -> None:
    for name, job in (("compare", r.job), ("run", r.run), ("values", r.values), ("varied", r.varied)):
        folder = r.daemon.evidence(job)
        raw = r.tidy((folder / "raw.json").read_text())
        s.put("raw", name, raw)
        s.put("report", name, raw + "\0" + s.targets)
        s.put("job", f"wire-{name}", r.tidy((folder / "job.json").read_text()))
    s.put("policy", "quick", (folder / "policy.json").read_text())
    r.result("session.close", id="nightly")
    shown = json.loads(r.result("session.show", id="nightly"))
    s.put("session", "wire", compact(shown["document"]))
    record = r.daemon.state / "evidence" / shown["session"]["id"] / "session.json"
    s.put("verify", "session", "\1" + r.tidy(record.read_text()))


def answers(s: Seeds, r: Recorded) -> None:
    """In the order of the target's table of commands."""
    shown = [r.result("job.show", id=job) for job in (r.job, r.waiting)]
    watched = r.result("job.watch", id=r.job)
    event = ">" + compact({"job": json.loads(watched)["job"]["id"], "state": "measuring", "step": "time", "text": "timing", "done": 3,
                           "total": 9, "left_ms": 61000})
    final = ">" + compact({"job": json.loads(watched)["job"]["id"], "state": "done", "final": True})
    running = watched.replace('"state":"done"', '"state":"measuring"').replace('"progress":null', '"progress":{"step":"time"}')
    status = r.result("daemon.status")
    table = [
        [[status, r.result("job.list", limit=30)]], [[x] for x in shown], [[x] for x in shown], [[status]],
        [[r.result("host.show")]], [[r.result("host.show")]], [[r.result("host.quiet")]], [[r.result("session.list")]],
        [[r.result("session.show", id="nightly")]], [[r.result("session.close", id="nightly")]],
        [[r.result("session.report", id="nightly")]], [[running, event, final, watched]], [[watched, watched]],
        [[r.result("job.cancel", id=r.job)], ['{"id":"%s","state":"cancelled"}' % ULID]],
        [[r.result("report.get", id=r.run, format="text", width=80)]], [[r.result("report.get", id=r.run, format="summary")]],
        [[r.result("job.log", id=r.job, offset=0)]],
        [[status, r.result("host.quiet", policy="strict"), r.result("host.calibration")]],
        [[r.result("report.page", session="nightly")]], [[r.result("host.calibration")]],
        [[r.result("kernel.list")]], [[r.result("kernel.show", id=r.receipts[0])]],
        [[r.result("kernel.show", id=r.receipts[1])] * 2]]
    for command, inputs in enumerate(table):
        for i, lines in enumerate(inputs):
            text = "\n".join(lines).encode() + b"\n"
            for how in (0, 7, 24) if len(text) < 2000 else (24,):
                s.put("answers", f"{command:02}-{i}-{how}", bytes([command, how]) + text)


def requests(s: Seeds, r: Recorded) -> None:
    text = (ROOT / "proto/protocol.md").read_text()
    lines = [line for block in re.findall(r"```json\n(.*?)\n```", text, re.S) for line in block.splitlines()]
    for i, line in enumerate(lines):
        s.put("rpc", f"protocol-{i}", line)
    s.put("rpc", "status", '{"jsonrpc":"2.0","id":7,"result":%s}' % r.result("daemon.status"))
    s.put("rpc", "text-id", '{"jsonrpc":"2.0","id":"a\\u00e9\\"","method":"job.list","params":{"limit":5}}')


def folders(s: Seeds) -> None:
    """Changes to the sealed folder: a file, what is done to it, how, where, a line."""
    s.put("verify", "nothing", b"\0\0")
    for f in range(14):
        s.put("verify", f"edit-{f}", b"\0" + bytes([f % 2, f, 0, 0, 60, 0]) + b"1\n")
    s.put("verify", "gone", b"\0\0\3\xf0")
    s.put("verify", "link", b"\0\1\4\xff")


def main() -> None:
    build = pathlib.Path(sys.argv[1]).resolve()
    s = Seeds(pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "tests/fuzz/corpus")
    for part in (documents, json_texts, counters, samples, callgrind, profiles, programs, times, hosts, sums, addresses, runner, frames, git_answers,
                 folders):
        part(s)
    kernels(s, build)
    with tempfile.TemporaryDirectory(prefix="ab-seed-") as folder:
        recorded = Recorded(build, pathlib.Path(folder))
        try:
            requests(s, recorded)
            answers(s, recorded)
            evidence(s, recorded)
        finally:
            recorded.close()


if __name__ == "__main__":
    main()
