// E0277
// says: does not fit in a word
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator) {
    root!(mu, wide = Unboxed(1_u64));
}
