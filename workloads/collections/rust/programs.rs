//! programs PROGRAM [COUNT TIMES]: one program of the suite; prints its result. The collections are
//! those of std, and additions are checked.

use std::collections::{HashMap, HashSet};

const STRIDE: i64 = 7919;

enum Value {
    Int(i64),
    #[allow(dead_code)] // never read: it is what makes a record more than a table of integers
    Text(String),
}

fn fail(why: &str) -> ! {
    eprintln!("{why}");
    std::process::exit(1)
}

fn add(a: i64, b: i64) -> i64 {
    a.checked_add(b).unwrap_or_else(|| fail("programs: overflow"))
}

/// The compiler has to assume that the elements change here, so that each pass is done.
fn forget<T>(elements: &mut [T]) {
    unsafe { std::arch::asm!("/* {0} */", in(reg) elements.as_mut_ptr(), options(nostack)) }
}

fn dict_build_get(keys: i64, gets: i64) -> i64 {
    let mut table = HashMap::new();
    for i in 0..keys {
        table.insert(format!("key-{i}"), i);
    }
    (0..gets).fold(0, |total, g| add(total, table[&format!("key-{}", g * STRIDE % keys)]))
}

fn set_insert_contains(inserts: i64, tests: i64) -> i64 {
    let mut seen = HashSet::new();
    for i in 0..inserts {
        seen.insert(3 * i);
    }
    let mut hits = 0;
    for t in 0..tests {
        if seen.contains(&(t * STRIDE % (3 * inserts))) {
            hits += 1;
        }
    }
    hits
}

fn int_list_sum(count: i64, passes: i64) -> i64 {
    let mut numbers: Vec<i64> = (0..count).map(|i| i % 1000).collect();
    let mut total = 0;
    for _ in 0..passes {
        forget(&mut numbers);
        for &number in &numbers {
            total = add(total, number);
        }
    }
    total
}

fn string_list_scan(count: i64, passes: i64) -> i64 {
    let mut names: Vec<String> = (0..count).map(|i| format!("name-{}", i % 100)).collect();
    let mut hits = 0;
    for _ in 0..passes {
        forget(&mut names);
        for name in &names {
            if name == "name-42" {
                hits += 1;
            }
        }
    }
    hits
}

fn record(i: i64) -> HashMap<String, Value> {
    HashMap::from([
        ("id".to_string(), Value::Int(i)),
        ("name".to_string(), Value::Text(format!("user-{i}"))),
        ("age".to_string(), Value::Int(i % 90)),
        ("city".to_string(), Value::Text(format!("city-{}", i % 50))),
    ])
}

fn record_field_reads(count: i64, passes: i64) -> i64 {
    let mut records: Vec<HashMap<String, Value>> = (0..count).map(record).collect();
    let mut total = 0;
    for _ in 0..passes {
        forget(&mut records);
        for record in &records {
            if let Some(Value::Int(age)) = record.get("age") {
                total = add(total, *age);
            }
        }
    }
    total
}

fn count_of(text: &str) -> i64 {
    match text.parse() {
        Ok(n) if (1..=100_000_000).contains(&n) => n,
        _ => fail("programs: a count is a number from 1 to 100000000"),
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.len() == 1 && arguments[0] == "startup" {
        println!("startup");
        return;
    }
    if arguments.len() != 3 {
        fail("usage: programs PROGRAM COUNT TIMES, or programs startup");
    }
    let (count, times) = (count_of(&arguments[1]), count_of(&arguments[2]));
    let result = match arguments[0].as_str() {
        "dict_build_get" => dict_build_get(count, times),
        "set_insert_contains" => set_insert_contains(count, times),
        "int_list_sum" => int_list_sum(count, times),
        "string_list_scan" => string_list_scan(count, times),
        "record_field_reads" => record_field_reads(count, times),
        _ => fail("programs: there is no such program"),
    };
    println!("{} {count} {times} {result}", arguments[0]);
}
