//! arrays KERNEL ELEMENTS OPERATIONS: the kernels on vectors, without overflow checks.

mod record;

use record::fail;

const STRIDE: usize = 7919;

/// The compiler has to assume that the elements change here, so that each operation is done.
fn forget<T>(elements: &mut [T]) {
    // Stable for longer than std::hint::black_box, and as empty.
    unsafe { std::arch::asm!("/* {0} */", in(reg) elements.as_mut_ptr(), options(nostack)) }
}

/// Whole numbers from 0 to 999: sums of them are exact in every type, in every order.
fn small(i: usize, salt: u64) -> u64 {
    (i as u64 * 7 + salt) % 1000
}

/// All bits, for products that do not fit.
fn wide(i: usize, salt: u64) -> u64 {
    (i as u64 + salt).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn fill<T>(n: usize, salt: u64, value: fn(usize, u64) -> T) -> Vec<T> {
    (0..n).map(|i| value(i, salt)).collect()
}

/// The kernel, operations times; of each fresh vector one element counts, and of the last all do.
fn run_fresh<T: Copy>(
    a: &mut [T],
    b: &mut [T],
    operations: usize,
    kernel: fn(&[T], &[T]) -> Vec<T>,
    bits: fn(T) -> u64,
) -> u64 {
    let mut check = 0u64;
    for k in 0..operations {
        forget(a);
        forget(b);
        let result = kernel(a, b);
        check = check.wrapping_add(bits(result[k * STRIDE % a.len()]));
        if k + 1 == operations {
            check = result.iter().fold(check, |sum, &x| sum.wrapping_add(bits(x)));
        }
    }
    check
}

fn run_reduce<T>(a: &mut [T], operations: usize, kernel: fn(&[T]) -> u64) -> u64 {
    let mut check = 0u64;
    for _ in 0..operations {
        forget(a);
        check = check.wrapping_add(kernel(a));
    }
    check
}

fn zip<T: Copy>(a: &[T], b: &[T], operation: impl Fn(T, T) -> T) -> Vec<T> {
    a.iter().zip(b).map(|(&x, &y)| operation(x, y)).collect()
}

type Run = Box<dyn FnMut(usize) -> u64>;

fn fresh<T: Copy + 'static>(
    n: usize,
    value: fn(usize, u64) -> T,
    kernel: fn(&[T], &[T]) -> Vec<T>,
    bits: fn(T) -> u64,
) -> Run {
    let (mut a, mut b) = (fill(n, 1, value), fill(n, 2, value));
    Box::new(move |operations| run_fresh(&mut a, &mut b, operations, kernel, bits))
}

fn reduce<T: 'static>(n: usize, value: fn(usize, u64) -> T, kernel: fn(&[T]) -> u64) -> Run {
    let mut a = fill(n, 1, value);
    Box::new(move |operations| run_reduce(&mut a, operations, kernel))
}

fn prepare(name: &str, n: usize) -> Option<Run> {
    let f64s = |i, salt| small(i, salt) as f64;
    let i32s = |i, salt| small(i, salt) as i32;
    let i64s = |i, salt| small(i, salt) as i64;
    let wide32 = |i, salt| (wide(i, salt) >> 32) as i32;
    let wide64 = |i, salt| wide(i, salt) as i64;
    Some(match name {
        "float64_add" => fresh(n, f64s, |a, b| zip(a, b, |x, y| x + y), |x| x as i64 as u64),
        "int32_add" => fresh(n, i32s, |a, b| zip(a, b, |x, y| x + y), |x| x as i64 as u64),
        "int64_add" => fresh(n, i64s, |a, b| zip(a, b, |x, y| x + y), |x| x as u64),
        "int32_mul" => fresh(n, wide32, |a, b| zip(a, b, i32::wrapping_mul), |x| x as i64 as u64),
        "int64_mul" => fresh(n, wide64, |a, b| zip(a, b, i64::wrapping_mul), |x| x as u64),
        "float64_sum" => reduce(n, f64s, |a| a.iter().sum::<f64>() as i64 as u64),
        "int32_sum" => reduce(n, i32s, |a| a.iter().map(|&x| i64::from(x)).sum::<i64>() as u64),
        "int64_sum" => reduce(n, i64s, |a| a.iter().sum::<i64>() as u64),
        "int32_max" => reduce(n, i32s, |a| a.iter().max().map_or(0, |&x| x as i64 as u64)),
        "int64_max" => reduce(n, i64s, |a| a.iter().max().map_or(0, |&x| x as u64)),
        _ => return None,
    })
}

fn count(text: &str) -> usize {
    match text.parse() {
        Ok(n) if (1..=1_000_000_000).contains(&n) => n,
        _ => fail("arrays: a count is a number from 1 to 1000000000"),
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.len() != 4 {
        fail("usage: arrays KERNEL ELEMENTS OPERATIONS");
    }
    let (name, n, operations) = (&arguments[1], count(&arguments[2]), count(&arguments[3]));
    let mut run = prepare(name, n).unwrap_or_else(|| fail("arrays: there is no such kernel"));
    run(1);
    record::start(
        &format!("READY numeric-arrays {name} {n} {operations}"),
        &format!("GO numeric-arrays {name}"),
    );
    let check = run(operations);
    record::finish(&format!("DONE numeric-arrays {name} {operations} {check}"));
}
