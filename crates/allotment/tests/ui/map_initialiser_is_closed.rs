// E0451
#![forbid(unsafe_code)]
use allotment::*;

fn f<'g>() -> NewMap<'g, Str, Str> {
    NewMap { len: Plain::new(9), ..Default::default() }
}
