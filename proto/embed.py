"""Writes a C file that holds the bytes of other files: embed.py OUT.c TABLE HEADER FILE...

The table is an array of struct embedded_file (proto/embedded.h), one row a file in the given
order, named by the file's stem, and TABLE_count its length. Only bytes: what they mean, and their
hash, is found at run time.
"""
import pathlib
import sys


def array(name, data):
    rows = [", ".join(str(b) for b in data[i:i + 20]) for i in range(0, len(data), 20)]
    return "static const unsigned char %s[] = {\n    %s};\n" % (name, ",\n    ".join(rows))


def main(out, table, header, *names):
    files = [(pathlib.Path(n).stem, pathlib.Path(n).read_bytes()) for n in names]
    text = ['#include "%s"\n' % header]
    text += [array("file_%d" % i, data) for i, (_, data) in enumerate(files)]
    rows = ['    {"%s", (const char *)file_%d, sizeof file_%d},' % (stem, i, i)
            for i, (stem, _) in enumerate(files)]
    text.append("const struct embedded_file %s[] = {\n%s\n};" % (table, "\n".join(rows)))
    text.append("const size_t %s_count = %d;\n" % (table, len(files)))
    pathlib.Path(out).write_text("\n".join(text), encoding="utf-8")


main(*sys.argv[1:])
