//! A worker that retries HTTP requests with waits between them, against a server thread of its own.
//! Sixteen cycles of three jobs: one recovers, one is rate limited, one is exhausted.

mod http;
mod record;

use http::Connection;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

const CYCLES: usize = 16;
const MAX_ATTEMPTS: usize = 3;
const UNAVAILABLE: u32 = 503;

struct Job {
    target: &'static str,
    statuses: &'static [u32],
    waits_ms: &'static [u64],
}

const JOBS: [Job; 3] = [
    Job { target: "/recovers", statuses: &[503, 200], waits_ms: &[4] },
    Job { target: "/rate-limited", statuses: &[503, 429], waits_ms: &[6] },
    Job { target: "/exhausted", statuses: &[503, 503, 503], waits_ms: &[3, 5] },
];

fn bad(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

fn body_of(job: &Job, attempt: usize) -> String {
    format!("{} attempt {attempt}\n", job.target)
}

/// One connection is one cycle: the server counts the attempts of each job in it.
fn serve_cycle(connection: &mut Connection) -> io::Result<()> {
    let mut attempts = [0; JOBS.len()];
    loop {
        let request = connection.receive()?;
        let target = request.start.strip_prefix("GET ").and_then(|s| s.strip_suffix(" HTTP/1.1"));
        let job = JOBS
            .iter()
            .position(|job| Some(job.target) == target)
            .ok_or_else(|| bad(format!("the server was asked: {}", request.start)))?;
        let status = *JOBS[job]
            .statuses
            .get(attempts[job])
            .ok_or_else(|| bad(format!("the server was asked once more: {}", request.start)))?;
        attempts[job] += 1;
        connection.respond(status, request.close, &body_of(&JOBS[job], attempts[job]))?;
        if request.close {
            return Ok(());
        }
    }
}

fn serve(listener: &TcpListener) -> io::Result<()> {
    for _ in 0..CYCLES {
        serve_cycle(&mut Connection::new(listener.accept()?.0)?)?;
    }
    Ok(())
}

fn status_of(start: &str) -> io::Result<u32> {
    let status = start.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
    status.ok_or_else(|| bad(format!("a malformed status line: {start}")))
}

/// Retries while the server is unavailable and attempts are left. Returns the final status.
fn run_job(connection: &mut Connection, job: &Job, last: bool, requests: &mut u32) -> io::Result<u32> {
    let mut attempt = 1;
    loop {
        let close = last && attempt == MAX_ATTEMPTS;
        connection.request(job.target, close)?;
        let response = connection.receive()?;
        *requests += 1;
        if response.body != body_of(job, attempt) || response.close != close {
            return Err(bad(format!("a wrong response to {}", job.target)));
        }
        let status = status_of(&response.start)?;
        if status != UNAVAILABLE || attempt == MAX_ATTEMPTS {
            return Ok(status);
        }
        thread::sleep(Duration::from_millis(job.waits_ms[attempt - 1]));
        attempt += 1;
    }
}

fn work(listener: TcpListener) -> io::Result<(u32, u32)> {
    let address = listener.local_addr()?;
    let server = thread::spawn(move || {
        serve(&listener).unwrap_or_else(|e| record::fail(&format!("retrying_worker: {e}")))
    });
    record::start(
        "READY release-performance retrying-worker 16 112 288",
        "GO release-performance retrying-worker",
    );
    let (mut requests, mut checksum) = (0, 0);
    for _ in 0..CYCLES {
        let mut connection = Connection::new(TcpStream::connect(address)?)?;
        for (i, job) in JOBS.iter().enumerate() {
            checksum += run_job(&mut connection, job, i + 1 == JOBS.len(), &mut requests)?;
        }
    }
    server.join().map_err(|_| bad("the server failed".to_string()))?;
    Ok((requests, checksum))
}

fn main() {
    let done = TcpListener::bind("127.0.0.1:0").and_then(work);
    let (requests, checksum) =
        done.unwrap_or_else(|e| record::fail(&format!("retrying_worker: {e}")));
    record::finish(&format!("DONE release-performance retrying-worker {requests} {checksum}"));
}
