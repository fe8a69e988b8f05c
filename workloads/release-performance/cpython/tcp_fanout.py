"""Twenty clients ping twenty loopback listeners at once; each handler waits 100 ms, then pongs."""

import asyncio
import socket

import record

CLIENTS = 20
WAIT_SECONDS = 0.1
PING = b"ping"
PONG = b"pong"


def listen():
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind(("127.0.0.1", 0))
    listener.listen(16)
    listener.setblocking(False)
    return listener


async def receive(loop, connection, expected):
    """Reads exactly the expected bytes and returns how many they are."""
    message = b""
    while len(message) < len(expected):
        part = await loop.sock_recv(connection, len(expected) - len(message))
        if not part:
            raise ConnectionError("the peer closed the connection too early")
        message += part
    if message != expected:
        raise ValueError(f"received {message!r} instead of {expected!r}")
    return len(message)


async def handle(loop, listener):
    connection, _ = await loop.sock_accept(listener)
    with connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await receive(loop, connection, PING)
        await asyncio.sleep(WAIT_SECONDS)
        await loop.sock_sendall(connection, PONG)


async def ask(loop, address):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as connection:
        connection.setblocking(False)
        await loop.sock_connect(connection, address)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await loop.sock_sendall(connection, PING)
        return await receive(loop, connection, PONG)


async def fan_out(listeners):
    loop = asyncio.get_running_loop()
    handlers = [asyncio.create_task(handle(loop, listener)) for listener in listeners]
    clients = [asyncio.create_task(ask(loop, listener.getsockname())) for listener in listeners]
    received = await asyncio.gather(*clients)
    await asyncio.gather(*handlers)
    return sum(received)


def main():
    listeners = [listen() for _ in range(CLIENTS)]
    record.start(
        "READY release-performance tcp-fanout 20 100 4", "GO release-performance tcp-fanout"
    )
    received = asyncio.run(fan_out(listeners))
    record.finish(f"DONE release-performance tcp-fanout {CLIENTS} {received}")
    for listener in listeners:
        listener.close()


if __name__ == "__main__":
    main()
