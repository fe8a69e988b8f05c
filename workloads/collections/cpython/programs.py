"""programs.py PROGRAM [COUNT TIMES]: one program of the suite; prints its result."""

import sys

STRIDE = 7919


def dict_build_get(keys, gets):
    table = {}
    for i in range(keys):
        table[f"key-{i}"] = i
    total = 0
    for g in range(gets):
        total += table[f"key-{g * STRIDE % keys}"]
    return total


def set_insert_contains(inserts, tests):
    seen = set()
    for i in range(inserts):
        seen.add(3 * i)
    hits = 0
    for t in range(tests):
        if t * STRIDE % (3 * inserts) in seen:
            hits += 1
    return hits


def int_list_sum(count, passes):
    numbers = [i % 1000 for i in range(count)]
    total = 0
    for _ in range(passes):
        for number in numbers:
            total += number
    return total


def string_list_scan(count, passes):
    names = [f"name-{i % 100}" for i in range(count)]
    hits = 0
    for _ in range(passes):
        for name in names:
            if name == "name-42":
                hits += 1
    return hits


def record_field_reads(count, passes):
    records = [
        {"id": i, "name": f"user-{i}", "age": i % 90, "city": f"city-{i % 50}"}
        for i in range(count)
    ]
    total = 0
    for _ in range(passes):
        for record in records:
            age = record.get("age")
            if isinstance(age, int):
                total += age
    return total


PROGRAMS = (
    dict_build_get,
    set_insert_contains,
    int_list_sum,
    string_list_scan,
    record_field_reads,
)


def main():
    name = sys.argv[1]
    if name == "startup":
        print("startup")
        return
    count, times = int(sys.argv[2]), int(sys.argv[3])
    run = {program.__name__: program for program in PROGRAMS}[name]
    print(name, count, times, run(count, times))


if __name__ == "__main__":
    main()
