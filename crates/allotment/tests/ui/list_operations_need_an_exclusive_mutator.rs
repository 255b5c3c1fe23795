// E0308
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &Mutator, l: Local<'_, List<Str>>, text: Local<'_, Str>) -> Result<(), OutOfMemory> {
    List::push(mu, l, text)
}
