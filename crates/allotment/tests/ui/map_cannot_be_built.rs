// E0451
#![forbid(unsafe_code)]
use allotment::*;

fn f() -> usize {
    let made: Map<Str, Str> = Map { len: Plain::new(9), ..todo!() };
    made.len()
}
