"""Writes the migrations as C arrays, byte for byte: embed.py OUTPUT NNNN_name.sql..."""

import pathlib
import re
import sys

HEAD = '#include "store/migrate.h"\n'


def array(name: str, data: bytes) -> str:
    rows = [data[i : i + 20] for i in range(0, len(data), 20)]
    body = "\n".join("    " + ", ".join(str(byte) for byte in row) + "," for row in rows)
    # The last 0 ends the text for SQLite and is not counted.
    return f"static const unsigned char {name}[] = {{\n{body}\n    0,\n}};\n"


def embed(paths: list[pathlib.Path]) -> str:
    arrays, entries = [], []
    for number, path in enumerate(sorted(paths, key=lambda p: p.name), start=1):
        match = re.fullmatch(r"(\d{4})_([a-z0-9_]+)\.sql", path.name)
        if not match or int(match[1]) != number:
            sys.exit(f"{path}: migration {number} is named {number:04}_name.sql")
        data = path.read_bytes()
        if b"\0" in data:
            sys.exit(f"{path}: holds a zero byte")
        arrays.append(array(f"sql_{match[1]}", data))
        entries.append(f'    {{{number}, "{match[2]}", (const char *)sql_{match[1]}, {len(data)}}},')
    table = "\n".join(entries)
    return (
        f"{HEAD}\n" + "\n".join(arrays) + "\nconst struct migration migrations[] = {\n"
        f"{table}\n}};\nconst int migrations_count = {len(entries)};\n"
    )


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).write_text(embed([pathlib.Path(p) for p in sys.argv[2:]]))
