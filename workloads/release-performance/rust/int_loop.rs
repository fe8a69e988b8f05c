//! Counts to 10,000,000 by checked additions of one; of 32 bits with --cfg int32, else of 64.

#[cfg(int32)]
type Int = i32;
#[cfg(not(int32))]
type Int = i64;

const ITERATIONS: Int = 10_000_000;

// The compiler has to assume that this changes the counter, which stays in its register. The names
// of half registers are each machine's own.
#[cfg(all(int32, target_arch = "x86_64"))]
macro_rules! forget {
    ($n:ident) => {
        std::arch::asm!("/* {0:e} */", inout(reg) $n, options(nomem, nostack, preserves_flags))
    };
}
#[cfg(all(int32, target_arch = "aarch64"))]
macro_rules! forget {
    ($n:ident) => {
        std::arch::asm!("/* {0:w} */", inout(reg) $n, options(nomem, nostack, preserves_flags))
    };
}
#[cfg(not(int32))]
macro_rules! forget {
    ($n:ident) => {
        std::arch::asm!("/* {0} */", inout(reg) $n, options(nomem, nostack, preserves_flags))
    };
}

fn main() {
    let mut counter: Int = 0;
    while counter < ITERATIONS {
        counter = match counter.checked_add(1) {
            Some(next) => next,
            None => std::process::exit(1),
        };
        unsafe { forget!(counter) }
    }
    println!("{counter}");
}
