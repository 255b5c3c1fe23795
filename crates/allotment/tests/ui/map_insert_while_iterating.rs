// E0502
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, Map<Str, Str>>) -> Result<(), OutOfMemory> {
    for (key, value) in l.get(mu).iter(mu) {
        pass!(Map::insert(mu, l, =value, =key)?);
    }
    Ok(())
}
