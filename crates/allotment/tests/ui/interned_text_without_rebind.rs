// E0502
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, Interner>) -> Result<bool, OutOfMemory> {
    let text = Interner::intern(mu, l, "one")?;
    Ok(l.get(mu).get(mu, "one") == Some(text))
}
