//! The programs of the suite on tokio: rust_runtime sleepers|idle COUNT, rust_runtime timers COUNT MS.
//! One worker runs the tasks; the first thread waits for the lines on stdin.

use std::io::{self, BufRead, Read, Write};
use std::process::exit;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio::time::sleep;

const EXIT_WRONG_LINE: i32 = 3;
const HOUR: Duration = Duration::from_secs(3600);

fn fail(why: &str) -> ! {
    eprintln!("{why}");
    exit(1)
}

fn say(line: &str) {
    let mut out = io::stdout().lock();
    let written = out.write_all(format!("{line}\n").as_bytes());
    if written.and_then(|()| out.flush()).is_err() {
        fail("cannot write to stdout");
    }
}

fn expect(wanted: &str) {
    let mut line = Vec::new();
    if io::stdin().lock().read_until(b'\n', &mut line).is_err() {
        fail("cannot read stdin");
    }
    if line != format!("{wanted}\n").as_bytes() {
        eprintln!("the line on stdin is not {wanted:?}");
        exit(EXIT_WRONG_LINE);
    }
}

fn spawn_sleepers(runtime: &Runtime, count: u64) -> Vec<JoinHandle<()>> {
    let begun = Arc::new(AtomicU64::new(0));
    let tasks = (0..count)
        .map(|_| {
            let begun = begun.clone();
            runtime.spawn(async move {
                begun.fetch_add(1, Ordering::Relaxed);
                sleep(HOUR).await;
            })
        })
        .collect();
    while begun.load(Ordering::Relaxed) < count {
        std::thread::sleep(Duration::from_millis(1));
    }
    tasks
}

fn standing(runtime: &Runtime, name: &str, count: u64) {
    let tasks = spawn_sleepers(runtime, count);
    say(&format!("READY {name} {count}"));
    expect("GO");
    for task in &tasks {
        task.abort();
    }
    let mut cancelled = 0;
    runtime.block_on(async {
        for task in tasks {
            cancelled += task.await.is_err() as u64;
        }
    });
    say(&format!("DONE {name} {cancelled}"));
}

fn timers(runtime: &Runtime, count: u64, ms: u64) {
    say(&format!("READY timers {count}"));
    expect("GO");
    let half = Duration::from_micros(ms * 500);
    let tasks: Vec<_> = (1..=count)
        .map(|i| half + Duration::from_nanos(ms * 500_000 * i / count))
        .map(|delay| runtime.spawn(async move { sleep(delay).await }))
        .collect();
    let mut woken = 0;
    runtime.block_on(async {
        for task in tasks {
            woken += task.await.is_ok() as u64;
        }
    });
    say(&format!("DONE timers {woken}"));
}

fn number(text: Option<&String>) -> u64 {
    match text.and_then(|text| text.parse().ok()) {
        Some(value) if value > 0 => value,
        _ => fail("usage: rust_runtime sleepers|idle COUNT, rust_runtime timers COUNT MS"),
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let name = arguments.get(1).map_or("", String::as_str);
    let count = number(arguments.get(2));
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build() {
        Ok(runtime) => runtime,
        Err(error) => fail(&format!("cannot start the runtime: {error}")),
    };
    if name == "sleepers" {
        say("BASELINE sleepers");
        expect("LOAD");
    }
    match name {
        "sleepers" | "idle" => standing(&runtime, name, count),
        "timers" => timers(&runtime, count, number(arguments.get(3))),
        _ => fail("there are sleepers, idle and timers"),
    }
    let mut rest = Vec::new();
    if io::stdin().lock().read_to_end(&mut rest).is_err() {
        fail("cannot read stdin");
    }
}
