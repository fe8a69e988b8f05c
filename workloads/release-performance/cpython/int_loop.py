"""Counts to 10,000,000 by additions of one."""


def main():
    counter = 0
    while counter < 10_000_000:
        counter += 1
    print(counter)


if __name__ == "__main__":
    main()
