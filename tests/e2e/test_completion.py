"""What the shells are told of the program's words: the scripts in real shells, no daemon anywhere."""

import json
import re
import shutil
import subprocess

import pytest

import harness


def aurabench(*args) -> str:
    return subprocess.run([str(harness.CLIENT), *args], env=harness.CLEAN_ENV, text=True, check=True,
                          capture_output=True, timeout=harness.PATIENCE_S).stdout


@pytest.fixture(scope="module")
def script() -> str:
    return aurabench("completion", "bash")


@pytest.fixture
def complete(script, tmp_path):
    """What bash offers behind a line, the cursor at its end."""

    def run(line: str) -> list[str]:
        program = script + '\nCOMP_LINE=$1 COMP_POINT=${#1}\n_aurabench\nprintf "%s\\n" "${COMPREPLY[@]}"\n'
        done = subprocess.run(["bash", "--norc", "-c", program, "bash", line], cwd=tmp_path, text=True,
                              env={"PATH": "/usr/bin:/bin"}, capture_output=True, timeout=60)
        assert done.stderr == "", done.stderr
        return done.stdout.split()

    return run


def commands() -> list[str]:
    block = aurabench("help").split("\ncommands:\n")[1].split("\n\n")[0]
    return re.findall(r"^  ([a-z-]+)", block, re.M)


def options_of(command: str) -> set[str]:
    """As its own help has them."""
    text = aurabench("help", command).split("\noptions:\n")[1]
    return set(re.findall(r"^  (?:-., |    )(--[a-z-]+)", text, re.M))


def test_bash_offers_every_command(complete):
    assert len(commands()) > 15
    assert complete("aurabench ") == commands()
    assert complete("aurabench com") == ["compare", "completion"]
    assert complete("aurabench --json -H ssh://a@b:22 rep") == ["report"]
    assert complete("aurabench frob") == []


def test_bash_offers_each_command_its_options_and_no_others(complete):
    for command in commands():
        offered = complete(f"aurabench {command} --")
        assert set(offered) == options_of(command), command
        assert len(offered) == len(set(offered)), command


@pytest.mark.parametrize("line,words", [
    ("aurabench list --state ca", ["cancelled"]),
    ("aurabench list --state=ca", ["cancelled"]),
    ("aurabench list -n 5 --st", ["--state"]),
    ("aurabench wait --until meas", ["measuring"]),
    ("aurabench compare --order ", ["interleaved", "sequential"]),
    ("aurabench report X --format ", ["text", "markdown", "json", "raw"]),
    ("aurabench submit --policy s", ["standard", "strict"]),
    ("aurabench session ", ["open", "show", "list", "close", "report"]),
    ("aurabench completion z", ["zsh"]),
    ("aurabench help ver", ["verify"]),
    ("aurabench show ", []),
    ("aurabench show --all=", []),
    ("aurabench compare --before ", []),
])
def test_bash_offers_what_an_option_or_a_command_takes(complete, line, words):
    assert complete(line) == words


def test_bash_offers_files_where_a_file_is_meant(complete, tmp_path):
    (tmp_path / "stapel.json").touch()
    assert complete("aurabench submit st") == ["stapel.json"]
    assert complete("aurabench submit --policy st") == ["stapel.json", "standard", "strict"]
    assert complete("aurabench session open st") == ["stapel.json"]
    assert complete("aurabench run -- ./st") == ["./stapel.json"]
    assert complete("aurabench show st") == []


def test_no_shell_but_these_is_known():
    done = subprocess.run([str(harness.CLIENT), "completion", "tcsh"], env=harness.CLEAN_ENV, text=True,
                          capture_output=True)
    assert done.returncode == 2 and "name bash, zsh or fish" in done.stderr


def test_the_script_as_a_document_is_the_same(script):
    document = json.loads(aurabench("completion", "bash", "--json"))
    assert document == {"aurabench": 1, "command": "completion", "shell": "bash", "script": script}


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_other_shells_read_their_scripts(shell, tmp_path):
    text = aurabench("completion", shell)
    # Whoever reads it finds every command and every long option.
    for command in commands():
        assert re.search(rf"\b{command}\b", text), command
        for option in options_of(command):
            assert option[2:] in text, (command, option)
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "script").write_text(text)
    done = subprocess.run([shell, "-n", str(tmp_path / "script")], text=True, capture_output=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_fish_offers_commands_options_and_words(tmp_path):
    if not shutil.which("fish"):
        pytest.skip("fish is not installed")
    (tmp_path / "script").write_text(aurabench("completion", "fish"))

    def offers(line: str) -> list[str]:
        done = subprocess.run(["fish", "--no-config", "-c", f"source {tmp_path}/script; complete -C '{line}'"],
                              text=True, capture_output=True, timeout=60, cwd=tmp_path,
                              env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)})
        assert done.stderr == ""
        return [each.split("\t")[0] for each in done.stdout.splitlines()]

    assert set(offers("aurabench ")) == set(commands())
    assert offers("aurabench list --state ca") == ["cancelled"]
    assert "--state" in offers("aurabench list --")
    assert "--state" not in offers("aurabench show --")
