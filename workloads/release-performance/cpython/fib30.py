"""Naive recursive fib(30)."""

import record


def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


def main():
    record.start("READY release-performance fib30 30", "GO release-performance fib30")
    record.finish(f"DONE release-performance fib30 {fib(30)}")


if __name__ == "__main__":
    main()
