//! Naive recursive fib(30) with checked additions.

mod record;

/// Every call has to happen, and nothing may be known of its argument.
#[inline(never)]
fn fib(mut n: i64) -> i64 {
    unsafe { std::arch::asm!("/* {0} */", inout(reg) n, options(nomem, nostack, preserves_flags)) }
    if n < 2 {
        return n;
    }
    fib(n - 1)
        .checked_add(fib(n - 2))
        .unwrap_or_else(|| record::fail("fib30: overflow"))
}

fn main() {
    record::start("READY release-performance fib30 30", "GO release-performance fib30");
    record::finish(&format!("DONE release-performance fib30 {}", fib(30)));
}
