// E0502
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, List<Str>>) -> Result<(), OutOfMemory> {
    for text in l.get(mu).iter(mu) {
        alloc!(mu, NewStr::part(text, 0..1))?;
    }
    Ok(())
}
