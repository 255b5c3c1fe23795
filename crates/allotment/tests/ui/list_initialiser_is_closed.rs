// E0451
#![forbid(unsafe_code)]
use allotment::*;

fn f<'g>() -> NewList<'g, Str> {
    NewList { len: Plain::new(9), ..Default::default() }
}
