"""A worker that retries HTTP requests with waits between them, against a server thread of
its own. Sixteen cycles of three jobs: one recovers, one is rate limited, one is exhausted."""

import http.client
import http.server
import socketserver
import threading
import time

import record

CYCLES = 16
MAX_ATTEMPTS = 3
UNAVAILABLE = 503

# Target: what the server answers in turn, what the worker waits in ms before each retry.
JOBS = {
    "/recovers": ((503, 200), (4,)),
    "/rate-limited": ((503, 429), (6,)),
    "/exhausted": ((503, 503, 503), (3, 5)),
}
LAST_TARGET = "/exhausted"


def body_text(target, attempt):
    return f"{target} attempt {attempt}\n".encode("ascii")


class Handler(http.server.BaseHTTPRequestHandler):
    """One connection is one cycle: the handler counts the attempts of each job in it."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # headers and body leave in one segment

    def setup(self):
        super().setup()
        self.attempts = dict.fromkeys(JOBS, 0)

    def do_GET(self):
        statuses, _ = JOBS[self.path]
        status = statuses[self.attempts[self.path]]
        self.attempts[self.path] += 1
        body = body_text(self.path, self.attempts[self.path])
        self.send_response_only(status)
        self.send_header("Date", self.date_time_string())
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)


def serve(server):
    for _ in range(CYCLES):
        server.handle_request()


def run_job(connection, target):
    """Retries while the server is unavailable and attempts are left.

    Returns the final status and the number of requests.
    """
    _, waits_ms = JOBS[target]
    for attempt in range(1, MAX_ATTEMPTS + 1):
        last = target == LAST_TARGET and attempt == MAX_ATTEMPTS
        connection.request("GET", target, headers={"Connection": "close"} if last else {})
        response = connection.getresponse()
        if response.read() != body_text(target, attempt):
            raise ValueError(f"the body of {target} is wrong")
        if response.will_close != last:
            raise ValueError("worker and server disagree about closing the connection")
        if response.status != UNAVAILABLE or attempt == MAX_ATTEMPTS:
            return response.status, attempt
        time.sleep(waits_ms[attempt - 1] / 1000)


def main():
    server = socketserver.TCPServer(("127.0.0.1", 0), Handler)
    # A daemon thread: an error of the worker ends the process even while the server waits.
    thread = threading.Thread(target=serve, args=(server,), daemon=True)
    thread.start()
    record.start(
        "READY release-performance retrying-worker 16 112 288",
        "GO release-performance retrying-worker",
    )
    requests = 0
    checksum = 0
    for _ in range(CYCLES):
        connection = http.client.HTTPConnection(*server.server_address)
        for target in JOBS:
            status, attempts = run_job(connection, target)
            checksum += status
            requests += attempts
        connection.close()
    thread.join()
    record.finish(f"DONE release-performance retrying-worker {requests} {checksum}")
    server.server_close()


if __name__ == "__main__":
    main()
