// E0451
#![forbid(unsafe_code)]
use allotment::*;

fn f() -> usize {
    let made: IdMap<Str, Str> = IdMap { len: Plain::new(9), ..todo!() };
    made.len()
}
