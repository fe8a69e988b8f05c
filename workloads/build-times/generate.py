#!/usr/bin/python3
"""generate.py DIR FUNCTIONS: writes the programs that are built, the same ones each time.

hello: one file that prints a line. modules: eight files with FUNCTIONS functions each, and one that
calls them all. tables: one file with a table of 20 times FUNCTIONS rows. network: one file that
sends numbers to itself over TCP. This needs nothing but the standard library.
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

NETWORK = """#define _POSIX_C_SOURCE 200809L

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum {{ NUMBERS = {numbers} }};

/* Two ends of one connection on the loopback interface. */
static int connect_ends(int ends[2])
{{
    struct sockaddr_in at = {{.sin_family = AF_INET, .sin_addr = {{htonl(INADDR_LOOPBACK)}}}};
    socklen_t size = sizeof at;
    int listening = socket(AF_INET, SOCK_STREAM, 0);

    if (listening < 0 || bind(listening, (struct sockaddr *)&at, size) != 0 ||
        listen(listening, 1) != 0 || getsockname(listening, (struct sockaddr *)&at, &size) != 0)
        return -1;
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (ends[0] < 0 || connect(ends[0], (struct sockaddr *)&at, size) != 0)
        return -1;
    ends[1] = accept(listening, NULL, NULL);
    (void)close(listening);
    return ends[1] < 0 ? -1 : 0;
}}

static int pass_on(const int ends[2], uint64_t number, uint64_t *received)
{{
    if (write(ends[0], &number, sizeof number) != (ssize_t)sizeof number)
        return -1;
    return recv(ends[1], received, sizeof *received, MSG_WAITALL) == (ssize_t)sizeof *received ? 0 : -1;
}}

int main(void)
{{
    uint64_t sum = 0, received = 0;
    int ends[2];

    if (connect_ends(ends) != 0)
        return 1;
    for (uint64_t number = 1; number <= NUMBERS; number++) {{
        if (pass_on(ends, number * number, &received) != 0)
            return 1;
        sum += received;
    }}
    (void)close(ends[0]);
    (void)close(ends[1]);
    printf("%" PRIu64 "\\n", sum);
    return 0;
}}
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


def network_result(functions):
    return sum(number * number for number in range(1, functions + 1))


def files(functions):
    made = {"hello.c": HELLO, "tables.c": tables_source(functions)}
    made["network.c"] = NETWORK.format(numbers=functions)
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
    results = {"modules": modules_result, "tables": tables_result, "network": network_result}
    return f"{results[program](functions)}\n"


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files(int(sys.argv[2])).items():
        (folder / name).write_text(text, encoding="ascii")


if __name__ == "__main__":
    main()
