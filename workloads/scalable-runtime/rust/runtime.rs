//! The programs of the suite on tokio: rust_runtime sleepers|idle COUNT, rust_runtime timers|beside
//! COUNT MS, rust_runtime scaling STEPS TASKS. One worker runs the tasks, of scaling one for each; the
//! first thread waits for the lines on stdin.

use std::io::{self, BufRead, Read, Write};
use std::process::exit;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio::task::{yield_now, JoinHandle};
use tokio::time::sleep;

const EXIT_WRONG_LINE: i32 = 3;
const BLOCKS: u64 = 64;
const SLICE_STEPS: u64 = 20_000;
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

fn steps_from(mut x: u32, steps: u64) -> u32 {
    for _ in 0..steps {
        x = x.wrapping_mul(1_103_515_245).wrapping_add(12_345) & 0x7fff_ffff;
    }
    x
}

/// Nobody looks at the result; it must be computed all the same.
fn keep(result: &u32) {
    unsafe { std::ptr::read_volatile(result) };
}

fn say_samples(name: &str, values: &[u64]) {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for (index, value) in values.iter().enumerate() {
        if writeln!(out, "SAMPLE {name} {index} {value}").is_err() {
            fail("cannot write to stdout");
        }
    }
    if out.flush().is_err() {
        fail("cannot write to stdout");
    }
}

/// What is over this time since then.
fn late_ns(since: Instant, delay: Duration) -> u64 {
    since.elapsed().saturating_sub(delay).as_nanos() as u64
}

/// When it was armed, and how late it was.
async fn timer(delay: Duration) -> (Instant, u64) {
    let armed = Instant::now();
    sleep(delay).await;
    (armed, late_ns(armed, delay))
}

fn timers(runtime: &Runtime, count: u64, ms: u64) {
    say(&format!("READY timers {count}"));
    expect("GO");
    let half = Duration::from_micros(ms * 500);
    let begin = Instant::now();
    let tasks: Vec<_> = (1..=count)
        .map(|i| half + Duration::from_nanos(ms * 500_000 * i / count))
        .map(|delay| runtime.spawn(timer(delay)))
        .collect();
    let (mut last, mut late) = (begin, Vec::new());
    runtime.block_on(async {
        for task in tasks {
            if let Ok((armed, ns)) = task.await {
                last = last.max(armed);
                late.push(ns);
            }
        }
    });
    say(&format!("DONE timers {}", late.len()));
    expect("ACK");
    say_samples("arm_span", &[(last - begin).as_nanos() as u64]);
    say_samples("overshoot", &late);
}

async fn compute(over: Arc<AtomicBool>, slices: Arc<AtomicU64>) -> u32 {
    let mut x = 0;
    while !over.load(Ordering::Relaxed) {
        x = steps_from(x, SLICE_STEPS);
        slices.fetch_add(1, Ordering::Relaxed);
        yield_now().await;
    }
    x
}

async fn sleeper(count: u64, pause: Duration, over: Arc<AtomicBool>, slices: Arc<AtomicU64>) -> Vec<u64> {
    let mut late = Vec::new();
    for _ in 0..count {
        let (begin, seen) = (Instant::now(), slices.load(Ordering::Relaxed));
        sleep(pause).await;
        late.push(late_ns(begin, pause));
        if slices.load(Ordering::Relaxed) == seen {
            fail("beside: nothing was computed while it slept");
        }
    }
    over.store(true, Ordering::Relaxed);
    late
}

fn beside(runtime: &Runtime, count: u64, ms: u64) {
    say(&format!("READY beside {count}"));
    expect("GO");
    let (over, slices) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let hot = runtime.spawn(compute(over.clone(), slices.clone()));
    let sleeping = runtime.spawn(sleeper(count, Duration::from_millis(ms), over, slices));
    let late = runtime.block_on(async {
        let late = sleeping.await.unwrap_or_default();
        keep(&hot.await.unwrap_or(0));
        late
    });
    say(&format!("DONE beside {}", late.len()));
    expect("ACK");
    say_samples("overshoot", &late);
}

fn scaling(runtime: &Runtime, steps: u64, tasks: u64) {
    say(&format!("READY scaling {steps}"));
    expect("GO");
    let parts: Vec<_> = (0..tasks)
        .map(|i| i * BLOCKS / tasks..(i + 1) * BLOCKS / tasks)
        .map(|blocks| {
            runtime.spawn(async move {
                blocks.map(|block| u64::from(steps_from(block as u32 + 1, steps / BLOCKS))).sum::<u64>()
            })
        })
        .collect();
    let mut sum = 0;
    runtime.block_on(async {
        for part in parts {
            sum += part.await.unwrap_or(0);
        }
    });
    say(&format!("DONE scaling {steps} {sum}"));
    expect("ACK"); // the workers end when that was stamped
}

fn number(text: Option<&String>) -> u64 {
    match text.and_then(|text| text.parse().ok()) {
        Some(value) if value > 0 => value,
        _ => fail("usage: rust_runtime sleepers|idle COUNT, rust_runtime timers|beside COUNT MS, rust_runtime scaling STEPS TASKS"),
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let name = arguments.get(1).map_or("", String::as_str);
    let count = number(arguments.get(2));
    let workers = if name == "scaling" { number(arguments.get(3)) as usize } else { 1 };
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_time().build() {
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
        "beside" => beside(&runtime, count, number(arguments.get(3))),
        "scaling" => scaling(&runtime, count, number(arguments.get(3))),
        _ => fail("there are sleepers, idle, timers, beside and scaling"),
    }
    let mut rest = Vec::new();
    if io::stdin().lock().read_to_end(&mut rest).is_err() {
        fail("cannot read stdin");
    }
}
