"""Every error code that the sources use stands in proto/errors.def: check_codes.py ROOT.

A code is a string literal of the form "group.word" whose group the table knows, outside comments.
Names of fault points, method names (of protocol.md), file names and paths of fields have the same form; they are told apart
by the lists below.
"""
import pathlib
import re
import sys

FOLDERS = ("core", "proto", "daemon", "client")
FIELDS = {"job.policy", "window.zone", "profile.format"}
FILE_ENDINGS = {"json", "md", "txt", "html", "h", "c", "def", "git", "db", "py", "key"}


def strip_comments(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def main(root):
    root = pathlib.Path(root)
    table = set(re.findall(r'^ERROR\("([^"]+)"', (root / "proto/errors.def").read_text(), re.M))
    protocol = (root / "proto/protocol.md").read_text()
    methods = set(re.findall(r"^`([a-z]+\.[a-z_]+) \{", protocol, re.M))
    known = table | methods | FIELDS | {"job.event", "daemon.event"}
    groups = {code.split(".")[0] for code in table}
    missing = []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.[ch]")):
            text = strip_comments(path.read_text(encoding="utf-8"))
            text = re.sub(r'\bfault_\w+\("[^"]+"|\bFAULT\w*\("[^"]+"', "", text)
            for group, word in re.findall(r'"([a-z]+)\.([a-z_]+)"', text):
                code = group + "." + word
                if group not in groups or word in FILE_ENDINGS or code in known:
                    continue
                missing.append("%s: %s" % (path.relative_to(root), code))
    for line in missing:
        print(line, "is not in proto/errors.def")
    print("%d codes, %d missing" % (len(table), len(missing)))
    return 1 if missing else 0


sys.exit(main(sys.argv[1]))
