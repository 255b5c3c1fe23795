// E0277
// says: is not a bare value of the heap
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator) {
    root!(mu, wide = Maybe(Some(1_u64)));
}
