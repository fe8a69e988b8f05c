//! The READY, GO and DONE records between a workload and whoever times it.

use std::io::{self, BufRead, Read, Write};

const EXIT_ERROR: i32 = 1;
const EXIT_WRONG_GO: i32 = 3;

/// Says why on stderr and ends the program.
pub fn fail(why: &str) -> ! {
    eprintln!("{why}");
    std::process::exit(EXIT_ERROR)
}

/// One write for the whole line, so that the reader wakes once.
fn write_line(line: &str) {
    let mut out = io::stdout().lock();
    let written = out.write_all(format!("{line}\n").as_bytes());
    if written.and_then(|()| out.flush()).is_err() {
        fail("record: cannot write to stdout");
    }
}

/// Writes the ready line; returns once exactly the go line has been read.
pub fn start(ready: &str, go: &str) {
    let mut line = Vec::new();
    write_line(ready);
    if io::stdin().lock().read_until(b'\n', &mut line).is_err() {
        fail("record: cannot read stdin");
    }
    if line != format!("{go}\n").as_bytes() {
        eprintln!("record: the line on stdin is not the GO line");
        std::process::exit(EXIT_WRONG_GO);
    }
}

/// Writes the done line, then reads stdin to its end: so the exit stays out of the timed interval.
pub fn finish(done: &str) {
    let mut rest = Vec::new();
    write_line(done);
    if io::stdin().lock().read_to_end(&mut rest).is_err() {
        fail("record: cannot read stdin");
    }
}
