#!/usr/bin/python3
"""generate.py DIR FUNCTIONS: writes the programs that are built, the same ones each time.

hello: one file that prints a line. modules: eight files with FUNCTIONS functions each, and one that
calls them all. tables: one file with a table of 20 times FUNCTIONS rows. This needs nothing but the
standard library.
"""

import pathlib
import sys

MODULES = 8
ROWS = 20
MASK_64 = (1 << 64) - 1

HELLO = """#include <stdio.h>

int main(void)
{
    puts("hello");
    return 0;
}
"""

FUNCTION = """
uint64_t f{module}_{number}(uint64_t x)
{{
    for (int i = 0; i < {rounds}; i++) {{
        switch (x & 3) {{
        case 0:
            x = x * {multiplier}u + {number}u;
            break;
        case 1:
            x ^= x >> 7;
            break;
        case 2:
            x += {multiplier}u;
            break;
        default:
            x = x << 3 | x >> 61;
            break;
        }}
    }}
    return x;
}}
"""


def constants(module, number):
    """How often, and by what: different in each function."""
    return 3 + number % 5, 2 * (1000 * module + number) + 1


def function_source(module, number):
    rounds, multiplier = constants(module, number)
    return FUNCTION.format(module=module, number=number, rounds=rounds, multiplier=multiplier)


def function_result(module, number, x):
    rounds, multiplier = constants(module, number)
    for _ in range(rounds):
        kind = x & 3
        if kind == 0:
            x = x * multiplier + number & MASK_64
        elif kind == 1:
            x ^= x >> 7
        elif kind == 2:
            x = x + multiplier & MASK_64
        else:
            x = (x << 3 | x >> 61) & MASK_64
    return x


def every_function(functions):
    return [(module, number) for module in range(MODULES) for number in range(functions)]


def modules_result(functions):
    x = 1
    for module, number in every_function(functions):
        x = function_result(module, number, x)
    return x


def modules_header(functions):
    names = "".join(f"uint64_t f{m}_{n}(uint64_t x);\n" for m, n in every_function(functions))
    return f"#include <stdint.h>\n\n{names}"


def modules_main(functions):
    calls = "".join(f"    x = f{m}_{n}(x);\n" for m, n in every_function(functions))
    return (
        '#include "modules.h"\n\n#include <inttypes.h>\n#include <stdio.h>\n\n'
        f"int main(void)\n{{\n    uint64_t x = 1;\n\n{calls}"
        '    printf("%" PRIu64 "\\n", x);\n    return 0;\n}\n'
    )


def row(number):
    return f"row-{number * 7919 % 10007}", number * number % 1013


def tables_result(functions):
    rows = [row(number) for number in range(ROWS * functions)]
    return sum(len(name) * value for name, value in rows)


def tables_source(functions):
    rows = "".join(
        '    {{"{}", {}}},\n'.format(*row(number)) for number in range(ROWS * functions)
    )
    return (
        "#include <inttypes.h>\n#include <stdio.h>\n#include <string.h>\n\n"
        f"static const struct {{\n    const char *name;\n    uint64_t value;\n}} rows[] = {{\n{rows}}};\n\n"
        "int main(void)\n{\n    uint64_t sum = 0;\n\n"
        "    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)\n"
        "        sum += strlen(rows[i].name) * rows[i].value;\n"
        '    printf("%" PRIu64 "\\n", sum);\n    return 0;\n}\n'
    )


def files(functions):
    made = {"hello.c": HELLO, "tables.c": tables_source(functions)}
    made["modules.h"] = modules_header(functions)
    made["modules.c"] = modules_main(functions)
    for module in range(MODULES):
        body = "".join(function_source(module, number) for number in range(functions))
        made[f"modules_{module}.c"] = f'#include "modules.h"\n{body}'
    return made


def sources(program):
    """The names of a program's source files."""
    more = [f"modules_{module}.c" for module in range(MODULES)] if program == "modules" else []
    return [f"{program}.c", *more]


def output(program, functions):
    if program == "hello":
        return "hello\n"
    results = {"modules": modules_result, "tables": tables_result}
    return f"{results[program](functions)}\n"


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files(int(sys.argv[2])).items():
        (folder / name).write_text(text, encoding="ascii")


if __name__ == "__main__":
    main()
