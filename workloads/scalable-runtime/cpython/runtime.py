"""The programs of the suite on asyncio: runtime.py sleepers|idle COUNT, runtime.py timers|beside COUNT MS;
and runtime.py scaling STEPS TASKS, where each of several tasks is a process."""

import asyncio
import os
import sys
import time

EXIT_WRONG_LINE = 3
HOUR = 3600
BLOCKS = 64
SLICE_STEPS = 20_000


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


def say_samples(name, values):
    for index, value in enumerate(values):
        print("SAMPLE", name, index, value)


def steps_from(x, steps):
    for _ in range(steps):
        x = (x * 1103515245 + 12345) & 0x7FFFFFFF
    return x


async def timer(delay_ns, late, index):
    """Notes how late it was; returns when it was armed."""
    armed = time.monotonic_ns()
    await asyncio.sleep(delay_ns / 1e9)
    late[index] = max(0, time.monotonic_ns() - armed - delay_ns)  # rounding can make it early
    return armed


async def timers(count, ms):
    say("READY timers", count)
    await input_ready()
    expect("GO")
    half, late = ms * 500_000, [0] * count
    begin = time.monotonic_ns()
    armed = await asyncio.gather(*(timer(half + (i + 1) * half // count, late, i) for i in range(count)))
    say("DONE timers", len(armed))
    expect("ACK")
    say_samples("arm_span", [max(armed) - begin])
    say_samples("overshoot", late)


async def compute(state):
    x = 0
    while not state["over"]:
        x = steps_from(x, SLICE_STEPS)
        state["slices"] += 1
        await asyncio.sleep(0)


async def beside(count, ms):
    say("READY beside", count)
    await input_ready()
    expect("GO")
    state, late = {"over": False, "slices": 0}, []
    hot = asyncio.create_task(compute(state))
    for _ in range(count):
        begin, seen = time.monotonic_ns(), state["slices"]
        await asyncio.sleep(ms / 1000)
        late.append(max(0, time.monotonic_ns() - begin - ms * 1_000_000))
        if state["slices"] == seen:
            sys.exit("beside: nothing was computed while it slept")
    state["over"] = True
    await hot
    say("DONE beside", len(late))
    expect("ACK")
    say_samples("overshoot", late)


def part(begin, result, blocks, steps):
    """A process of its own: waits for its begin, computes its blocks, waits for its end."""
    os.read(begin, 1)
    total = sum(steps_from(block + 1, steps) for block in blocks)
    os.write(result, total.to_bytes(8, "little"))
    os.read(begin, 1)
    os._exit(0)


def as_one(steps):
    say("READY scaling", steps)
    expect("GO")
    say("DONE scaling", steps, sum(steps_from(block + 1, steps // BLOCKS) for block in range(BLOCKS)))
    expect("ACK")


def as_several(steps, tasks):
    begins, results, children = [], [], []
    for i in range(tasks):
        begin, result = os.pipe(), os.pipe()
        blocks = range(i * BLOCKS // tasks, (i + 1) * BLOCKS // tasks)
        child = os.fork()
        if child == 0:
            for other in begins:
                os.close(other)
            os.close(begin[1])
            part(begin[0], result[1], blocks, steps // BLOCKS)
        os.close(begin[0])
        os.close(result[1])
        begins.append(begin[1])
        results.append(result[0])
        children.append(child)
    say("READY scaling", steps)
    expect("GO")
    for begin in begins:
        os.write(begin, b"1")
    total = sum(int.from_bytes(os.read(result, 8), "little") for result in results)
    say("DONE scaling", steps, total)
    expect("ACK")  # the processes end when that was stamped
    for begin in begins:
        os.close(begin)
    for child in children:
        os.waitpid(child, 0)


def main():
    name, count = sys.argv[1], int(sys.argv[2])
    more = [int(word) for word in sys.argv[3:]]
    if name == "sleepers":
        say("BASELINE sleepers")
        expect("LOAD")
    if name == "scaling":
        as_one(count) if more == [1] else as_several(count, *more)
    else:
        asyncio.run({"timers": timers, "beside": beside}[name](count, *more) if more else standing(name, count))
    sys.stdout.flush()
    while os.read(0, 4096):
        pass


if __name__ == "__main__":
    main()
