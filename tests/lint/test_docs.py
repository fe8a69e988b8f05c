"""What the documents say exists: links, commands, options, error codes, and the JSON that people copy.
Each rule has a test in which it refuses."""

import json
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMAS = ROOT / "proto/schema"
# <!-- check: NAME --> in front of a fenced JSON example: the schema that it must fulfil.
CHECKED = re.compile(r"<!-- check: (\w+) -->\n```json\n(.*?)\n```", re.S)
FENCED_JSON = re.compile(r"```json\n(.*?)\n```", re.S)


def tracked(*patterns: str) -> list[pathlib.Path]:
    out = subprocess.run(["git", "ls-files", "-z", "--", *patterns], cwd=ROOT, check=True,
                         capture_output=True).stdout
    return [ROOT / name for name in out.decode().split("\0") if name and (ROOT / name).is_file()]


def documents() -> dict[pathlib.Path, str]:
    found = {path: path.read_text() for path in tracked("*.md")}
    assert ROOT / "README.md" in found and ROOT / "docs/guide.md" in found
    return found


def manual_pages() -> dict[str, str]:
    return {name: (ROOT / "docs/man" / name).read_text() for name in ("aurabench.1", "aurabenchd.8")}


# ---- links

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def anchors(text: str) -> set[str]:
    """GitHub's names for the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", text, flags=re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


def link_faults(path: pathlib.Path, text: str) -> list[str]:
    faults = []
    for target in LINK.findall(re.sub(r"```.*?```", "", text, flags=re.S)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        if not file.is_relative_to(ROOT) or not file.exists():
            faults.append(f"{path.name}: {target} does not exist")
        elif anchor and anchor not in anchors(file.read_text() if name else text):
            faults.append(f"{path.name}: {target} has no such heading")
    return faults


def test_relative_links_resolve():
    assert [f for path, text in documents().items() for f in link_faults(path, text)] == []


@pytest.mark.parametrize("text", ["[x](docs/nothing.md)", "[x](#nothing)", "[x](../../etc/passwd)",
                                  "[x](docs/guide.md#nothing)"])
def test_a_broken_link_is_refused(text):
    assert link_faults(ROOT / "README.md", "# Something\n" + text)


# ---- commands


def client_commands() -> set[str]:
    """The names of the command structs that main.c lists."""
    sources = {p: p.read_text() for p in (ROOT / "client").rglob("*.c")}
    listed = set(re.findall(r"&(command_\w+)", sources[ROOT / "client/main.c"]))
    names = {}
    for text in sources.values():
        names.update(re.findall(r'const struct command (command_\w+) = \{\s*\.name = "([^"]+)"', text))
    assert listed and listed <= set(names), "main.c lists commands that no file defines"
    return {names[symbol] for symbol in listed}


# `aurabench`, perhaps with shared options, then a word. Prose names it in backquotes or in a block.
CODE = re.compile(r"(?s:```.*?```)|`[^`\n]+`|^    .*$", re.M)
NAMED = re.compile(r"(?:^[ \t]*(?:\$ )?|[(/]|(?:&&|;|\|) )aurabench"
                   r"(?: +(?:-H|--host|--socket|--timeout)[ =]\S+| +--json)* +([a-z][a-z-]*)", re.M)


def commands_named(text: str) -> set[str]:
    code = [block.group(0).strip("`") for block in CODE.finditer(text)]
    return {m.group(1) for block in code for m in NAMED.finditer(block)}


def test_commands_that_documents_name_exist():
    known = client_commands()
    faults = [f"{path.name}: aurabench {c}" for path, text in documents().items()
              for c in sorted(commands_named(text) - known)]
    assert faults == []


def test_documents_name_commands_at_all():
    assert {"compare", "run", "show", "quiet"} <= commands_named((ROOT / "README.md").read_text())


@pytest.mark.parametrize("text", ["`aurabench frobnicate`", "    $ aurabench -H ssh://a@b frobnicate 1",
                                  "```\nbuild/aurabench --json frobnicate\n```"])
def test_a_command_that_does_not_exist_is_found(text):
    assert commands_named(text) - client_commands() == {"frobnicate"}


def test_the_manual_explains_every_command():
    page = manual_pages()["aurabench.1"]
    assert set(re.findall(r"^\.Ss ([a-z-]+)", page, re.M)) == client_commands()


# ---- options


def client_options() -> set[str]:
    text = "".join(p.read_text() for p in (ROOT / "client").rglob("*.[ch]"))
    text = text.replace("\\\n", " ")
    found = set(re.findall(r"(?:'.'|0),\s*\"([a-z-]+)\",\s*OPT_[A-Z_]+", text))
    assert {"before", "repetitions", "retry-limit", "host"} <= found
    return found


def daemon_options() -> set[str]:
    text = (ROOT / "daemon/main.c").read_text()
    return set(re.findall(r'\{"([a-z-]+)", (?:required|no)_argument', text))


def manual_options(page: str) -> set[str]:
    return set(re.findall(r"Fl \\-([a-z][a-z-]+)", page))


# --vs divides the two commands of `run`; it is no row of a table.
NO_TABLE = {"vs"}


def test_the_manual_of_the_client_has_its_options_and_no_others():
    assert manual_options(manual_pages()["aurabench.1"]) - NO_TABLE == client_options()


def test_the_manual_of_the_daemon_has_its_options_and_no_others():
    page = manual_pages()["aurabenchd.8"]
    assert manual_options(page) == daemon_options()
    text = (ROOT / "daemon/main.c").read_text()
    assert set(re.findall(r"--([a-z][a-z-]+)", text[: text.index("enum {")])) == daemon_options()


def test_an_option_that_the_manual_invents_is_found():
    page = manual_pages()["aurabench.1"] + ".It Fl \\-frobnicate\n"
    assert manual_options(page) - NO_TABLE - client_options() == {"frobnicate"}


def option_faults(text: str, known: set[str]) -> set[str]:
    """Options of our programs that a document names and nobody knows: in lines of code that begin a
    command of ours, and in backquotes that hold only an option."""
    named = set(re.findall(r"`--([a-z][a-z-]+)(?: [A-Z]\w*)?`", text))
    for block in CODE.finditer(text):
        for line in block.group(0).strip("`").replace("\\\n", " ").splitlines():
            ours = re.search(r"(?:^|[\s$(/])aurabenchd? .*", line)
            if ours:
                command = re.split(r" \| | && | -- ", ours.group(0))[0]
                named |= set(re.findall(r"\s--([a-z][a-z-]+)", command))
    return named - known


# Of our own scripts and of programs that the text speaks of.
OTHERS = {"plain", "sanitize", "test", "repeat", "workload", "lane", "unshallow", "source", "build",
          "smoke", "realtime"}


def test_options_that_documents_name_exist():
    known = client_options() | daemon_options() | NO_TABLE | OTHERS
    faults = {path.name: option_faults(text, known) for path, text in documents().items()
              if path.parent in (ROOT, ROOT / "docs")}
    assert {name: f for name, f in faults.items() if f} == {}


@pytest.mark.parametrize("text", ["give `--frobnicate`", "    aurabench compare --frobnicate x",
                                  "`aurabenchd --frobnicate`"])
def test_an_option_that_does_not_exist_is_found(text):
    assert option_faults(text, client_options() | daemon_options()) == {"frobnicate"}


# ---- error codes


def error_codes() -> set[str]:
    return set(re.findall(r'^ERROR\("([^"]+)"', (ROOT / "proto/errors.def").read_text(), re.M))


def code_faults(text: str, known: set[str]) -> set[str]:
    groups = "|".join(sorted({c.split(".")[0] for c in known if "." in c}))
    named = set(re.findall(rf"`((?:{groups})\.[a-z_]+)`", text))
    files = {n for n in named if n.rsplit(".", 1)[1] in {"json", "md", "db", "py", "c", "key", "pub"}}
    methods = set(re.findall(r'\{"([a-z]+\.[a-z]+)", api_', (ROOT / "daemon/api/api.c").read_text()))
    return named - files - methods - known - {"job.event", "suite.path"}


def test_error_codes_that_documents_name_exist():
    known = error_codes()
    faults = {path.name: code_faults(text, known) for path, text in documents().items()
              if path.parent != ROOT / "proto"}  # the protocol has a test of its own
    assert {name: f for name, f in faults.items() if f} == {}


def test_an_error_code_that_does_not_exist_is_found():
    assert code_faults("`lane.frobnicated` and `lane.signal`", error_codes()) == {"lane.frobnicated"}


def test_every_cause_of_an_invalid_observation_is_explained():
    text = (ROOT / "docs/suites.md").read_text()
    assert [c for c in sorted(error_codes()) if c.startswith("lane.") and f"`{c}`" not in text] == []


# ---- what people copy


def json_faults(text: str) -> list[str]:
    faults = []
    for block in FENCED_JSON.findall(text):
        try:
            json.loads(block)
        except ValueError as e:
            faults.append(f"{block[:40]}: {e}")
    return faults


@pytest.mark.parametrize("page", ["docs/suites.md", "docs/guide.md"])
def test_json_examples_are_json_and_name_their_schema(page):
    text = (ROOT / page).read_text()
    assert json_faults(text) == []
    assert len(CHECKED.findall(text)) == len(FENCED_JSON.findall(text)) > 0


def test_a_broken_json_example_is_refused():
    assert json_faults('```json\n{"a": 1,}\n```')


def schema_faults(name: str, document: dict) -> list[str]:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((SCHEMAS / f"{name}.json").read_text())
    return [e.message for e in jsonschema.Draft202012Validator(schema).iter_errors(document)]


@pytest.mark.parametrize("page", ["docs/suites.md", "docs/guide.md"])
def test_json_examples_fulfil_their_schemas(page):
    for name, block in CHECKED.findall((ROOT / page).read_text()):
        assert schema_faults(name, json.loads(block)) == [], block


def test_an_example_against_its_schema_is_refused():
    assert schema_faults("suite", {"schema": "aurabench.suite.v1", "name": "x", "workload": []})
    assert schema_faults("policy", {"schema": "aurabench.policy.v1", "name": "Not a name"})


def client() -> pathlib.Path:
    path = pathlib.Path(os.environ.get("AURABENCH_BUILD", "/nonexistent")) / "aurabench"
    if not path.exists():
        pytest.skip("AURABENCH_BUILD names no folder with aurabench")
    return path


def submit_fault(folder: pathlib.Path, suite: str, policy: str) -> str:
    """The code with which the client itself refuses a job of this suite and policy; without a daemon a
    good one comes as far as asking for it."""
    (folder / "suite").mkdir(exist_ok=True)
    (folder / "suite/suite.json").write_text(suite)
    (folder / "policy.json").write_text(policy)
    (folder / "job.json").write_text('{"schema": "aurabench.job.v1", "suite": {"path": "suite"}}')
    out = subprocess.run([str(client()), "--socket", str(folder / "none"), "--json", "submit",
                          str(folder / "job.json"), "--policy", str(folder / "policy.json")],
                         capture_output=True, text=True).stdout
    return json.loads(out)["error"]["code"]


SUITE = '{"schema": "aurabench.suite.v1", "name": "x", "workloads": [{"name": "w", "measure": "process", ' \
        '"lanes": {"l": {"command": ["true"]}}}]}'
POLICY = '{"schema": "aurabench.policy.v1", "name": "mine"}'


def test_the_program_takes_the_examples(tmp_path):
    for page in ("docs/suites.md", "docs/guide.md"):
        for name, block in CHECKED.findall((ROOT / page).read_text()):
            if name == "suite":
                assert submit_fault(tmp_path, block, POLICY) == "daemon.unreachable", block
            if name == "policy":
                assert submit_fault(tmp_path, SUITE, block) == "daemon.unreachable", block


def test_the_program_refuses_a_wrong_example(tmp_path):
    assert submit_fault(tmp_path, SUITE.replace('"true"', '"|"'), POLICY) == "suite.shell_operator"
    assert submit_fault(tmp_path, SUITE, POLICY.replace("mine", "strict")) == "policy.reserved_name"


# ---- manual pages


def groff_warnings(text: str) -> str:
    try:
        run = subprocess.run(["groff", "-mandoc", "-Tutf8", "-ww"], input=text, capture_output=True,
                             text=True, cwd="/")
    except FileNotFoundError:
        pytest.skip("groff is not installed")
    return run.stderr


@pytest.mark.parametrize("name", ["aurabench.1", "aurabenchd.8"])
def test_manual_pages_render_without_warnings(name):
    assert groff_warnings(manual_pages()[name]) == ""


def test_a_broken_manual_page_is_refused():
    assert groff_warnings(".TH X 1\n.frobnicate\n")


# ---- words that do not belong into documents

# Numbers of issues, and how or where the work was done.
FOREIGN = re.compile(r"(?<![\w&])#\d+\b|\bissue \d+|\bsession of work\b", re.I)


def test_documents_do_not_speak_of_the_workshop():
    assert {p.name: FOREIGN.findall(t) for p, t in documents().items() if FOREIGN.search(t)} == {}


def test_a_word_of_the_workshop_is_refused():
    assert FOREIGN.search("see issue 12") and FOREIGN.search("fixed (#12)")
