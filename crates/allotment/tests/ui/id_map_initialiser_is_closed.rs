// E0451
#![forbid(unsafe_code)]
use allotment::*;

fn f<'g>() -> NewIdMap<'g, Str, Str> {
    NewIdMap { len: Plain::new(9), ..Default::default() }
}
