// E0308
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, List<Str>>, text: Local<'_, Str>) -> Result<(), OutOfMemory> {
    let text = text.get(mu);
    List::push(mu, l, text)
}
