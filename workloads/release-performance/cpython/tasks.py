"""Creates and joins 10,000 asyncio tasks; each adds its index to one sum."""

import asyncio

import record

TASKS = 10_000


async def run_tasks():
    total = 0

    async def add(index):
        nonlocal total
        total += index

    await asyncio.gather(*(asyncio.create_task(add(index)) for index in range(TASKS)))
    return total


def main():
    record.start("READY release-performance tasks 10000", "GO release-performance tasks")
    total = asyncio.run(run_tasks())
    record.finish(f"DONE release-performance tasks {TASKS} {total}")


if __name__ == "__main__":
    main()
