// E0502
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, List<Str>>, text: Local<'_, Str>) -> Result<usize, OutOfMemory> {
    let text = text.get(mu);
    pass!(List::push(mu, l, =text)?);
    Ok(text.len())
}
