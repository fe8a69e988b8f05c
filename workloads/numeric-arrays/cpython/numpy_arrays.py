"""numpy_arrays.py KERNEL ELEMENTS OPERATIONS: the kernels on NumPy's arrays."""

import sys

import numpy

import record

STRIDE = 7919
MASK_64 = (1 << 64) - 1
GOLDEN = numpy.uint64(0x9E3779B97F4A7C15)


def small(kind):
    def fill(count, salt):
        return ((numpy.arange(count, dtype=numpy.int64) * 7 + salt) % 1000).astype(kind)

    return fill


def wide_bits(count, salt):
    return (numpy.arange(count, dtype=numpy.uint64) + numpy.uint64(salt)) * GOLDEN


def wide_32(count, salt):
    return (wide_bits(count, salt) >> numpy.uint64(32)).astype(numpy.uint32).view(numpy.int32)


def wide_64(count, salt):
    return wide_bits(count, salt).view(numpy.int64)


FRESH = {
    "float64_add": (small(numpy.float64), numpy.add),
    "int32_add": (small(numpy.int32), numpy.add),
    "int64_add": (small(numpy.int64), numpy.add),
    "int32_mul": (wide_32, numpy.multiply),
    "int64_mul": (wide_64, numpy.multiply),
}
REDUCE = {
    "float64_sum": (small(numpy.float64), lambda a: a.sum()),
    "int32_sum": (small(numpy.int32), lambda a: a.sum(dtype=numpy.int64)),
    "int64_sum": (small(numpy.int64), lambda a: a.sum()),
    "int32_max": (small(numpy.int32), lambda a: a.max()),
    "int64_max": (small(numpy.int64), lambda a: a.max()),
}


def run_fresh(operation, a, b, operations):
    check = 0
    for k in range(operations):
        result = operation(a, b)
        check += int(result[k * STRIDE % len(a)])
    return check + int(result.sum(dtype=result.dtype if result.dtype.kind == "f" else numpy.int64))


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
