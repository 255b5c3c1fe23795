// E0277
// says: is not an object of the heap
// says: a number in a slot, a list or a map is `Unboxed<u32>`
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, List<u64>>) -> usize {
    l.get(mu).len()
}
