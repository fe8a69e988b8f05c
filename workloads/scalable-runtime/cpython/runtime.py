"""The programs of the suite on asyncio: runtime.py sleepers|idle COUNT, runtime.py timers COUNT MS."""

import asyncio
import os
import sys

EXIT_WRONG_LINE = 3
HOUR = 3600


def say(*words):
    print(*words, flush=True)


def expect(line):
    # Unbuffered: nothing behind the newline is taken.
    got = b""
    while not got.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            break
        got += byte
    if got != line.encode("ascii") + b"\n":
        print(f"the line on stdin is not {line!r}", file=sys.stderr)
        os._exit(EXIT_WRONG_LINE)


async def input_ready():
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(0, ready.set)
    await ready.wait()
    loop.remove_reader(0)


async def standing(name, count):
    tasks = [asyncio.create_task(asyncio.sleep(HOUR)) for _ in range(count)]
    await asyncio.sleep(0)  # all have begun, and sleep
    say("READY", name, count)
    await input_ready()
    expect("GO")
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    say("DONE", name, sum(task.cancelled() for task in tasks))


async def timers(count, ms):
    say("READY timers", count)
    await input_ready()
    expect("GO")
    half = ms / 2000
    await asyncio.gather(*(asyncio.sleep(half + (i + 1) * half / count) for i in range(count)))
    say("DONE timers", count)


def main():
    name, count = sys.argv[1], int(sys.argv[2])
    if name == "sleepers":
        say("BASELINE sleepers")
        expect("LOAD")
    asyncio.run(timers(count, int(sys.argv[3])) if name == "timers" else standing(name, count))
    while os.read(0, 4096):
        pass


if __name__ == "__main__":
    main()
