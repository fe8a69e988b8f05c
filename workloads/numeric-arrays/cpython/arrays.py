"""arrays.py KERNEL ELEMENTS OPERATIONS: the kernels on lists of Python's own numbers."""

import operator
import sys

import record

STRIDE = 7919
MASK_64 = (1 << 64) - 1


def small(count, salt):
    return [(i * 7 + salt) % 1000 for i in range(count)]


def floats(count, salt):
    return [float(value) for value in small(count, salt)]


def signed(value, bits):
    """The low bits as a two's complement number."""
    half = 1 << (bits - 1)
    return ((value + half) & ((1 << bits) - 1)) - half


def wide_32(count, salt):
    return [signed(value >> 32, 32) for value in wide_bits(count, salt)]


def wide_64(count, salt):
    return [signed(value, 64) for value in wide_bits(count, salt)]


def wide_bits(count, salt):
    return [(i + salt) * 0x9E3779B97F4A7C15 & MASK_64 for i in range(count)]


def add(a, b):
    return list(map(operator.add, a, b))


def multiply_32(a, b):
    return [((x * y + 0x80000000) & 0xFFFFFFFF) - 0x80000000 for x, y in zip(a, b)]


def multiply_64(a, b):
    return [
        ((x * y + 0x8000000000000000) & 0xFFFFFFFFFFFFFFFF) - 0x8000000000000000
        for x, y in zip(a, b)
    ]


# What fills the arrays, and the operation; those of FRESH make an array of two.
FRESH = {
    "float64_add": (floats, add),
    "int32_add": (small, add),
    "int64_add": (small, add),
    "int32_mul": (wide_32, multiply_32),
    "int64_mul": (wide_64, multiply_64),
}
REDUCE = {
    "float64_sum": (floats, sum),
    "int32_sum": (small, sum),
    "int64_sum": (small, sum),
    "int32_max": (small, max),
    "int64_max": (small, max),
}


def run_fresh(operation, a, b, operations):
    check = 0
    for k in range(operations):
        result = operation(a, b)
        check += int(result[k * STRIDE % len(a)])
    return check + int(sum(result))


def run_reduce(operation, a, operations):
    check = 0
    for _ in range(operations):
        check += int(operation(a))
    return check


def prepare(name, count):
    """The kernel on its arrays, as a function of how often."""
    if name in FRESH:
        fill, operation = FRESH[name]
        a, b = fill(count, 1), fill(count, 2)
        return lambda operations: run_fresh(operation, a, b, operations)
    fill, operation = REDUCE[name]
    a = fill(count, 1)
    return lambda operations: run_reduce(operation, a, operations)


def main():
    name, count, operations = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    run = prepare(name, count)
    run(1)
    record.start(f"READY numeric-arrays {name} {count} {operations}", f"GO numeric-arrays {name}")
    record.finish(f"DONE numeric-arrays {name} {operations} {run(operations) & MASK_64}")


if __name__ == "__main__":
    main()
