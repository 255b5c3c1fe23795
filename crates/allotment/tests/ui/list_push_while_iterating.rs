// E0502
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, List<Str>>) -> Result<(), OutOfMemory> {
    for text in l.get(mu).iter(mu) {
        pass!(List::push(mu, l, =text)?);
    }
    Ok(())
}
