"""What the integer loop does besides looping: start, print a number, end."""


def main():
    counter = 0
    print(counter)


if __name__ == "__main__":
    main()
