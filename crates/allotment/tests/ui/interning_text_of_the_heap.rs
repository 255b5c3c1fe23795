// E0502
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, Interner>, text: Local<'_, Str>) -> Result<usize, OutOfMemory> {
    let text: &str = text.get(mu).as_ref();
    Ok(Interner::intern(mu, l, text)?.len())
}
