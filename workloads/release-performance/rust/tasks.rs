//! Creates and joins 10,000 tasks of tokio; each adds its index to one sum.

mod record;

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::Arc;

const TASKS: i64 = 10_000;

async fn run_tasks() -> i64 {
    let total = Arc::new(AtomicI64::new(0));
    let tasks: Vec<_> = (0..TASKS)
        .map(|index| {
            let total = total.clone();
            tokio::spawn(async move { total.fetch_add(index, Ordering::Relaxed) })
        })
        .collect();
    for task in tasks {
        if task.await.is_err() {
            record::fail("tasks: a task failed");
        }
    }
    total.load(Ordering::Relaxed)
}

fn main() {
    record::start("READY release-performance tasks 10000", "GO release-performance tasks");
    let total = match tokio::runtime::Builder::new_multi_thread().build() {
        Ok(runtime) => runtime.block_on(run_tasks()),
        Err(error) => record::fail(&format!("tasks: cannot start the runtime: {error}")),
    };
    record::finish(&format!("DONE release-performance tasks {TASKS} {total}"));
}
