// E0308
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, Map<Str, Str>>, text: Local<'_, Str>) -> Result<(), OutOfMemory> {
    let text = text.get(mu);
    Map::insert(mu, l, text, text)
}
