//! What the integer loop does besides looping: start, print a number, end.

fn main() {
    println!("0");
}
