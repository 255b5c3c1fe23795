// compiles: a lifetime that is no span is kept
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct Syntax<'s>(&'s str);
impl From<OutOfMemory> for Syntax<'_> {
    fn from(_: OutOfMemory) -> Self {
        Syntax("memory")
    }
}
fn read<'m, 's>(mu: &'m mut Mutator, source: &'s str) -> Result<Gc<'m, Str>, Syntax<'s>> {
    if source.is_empty() {
        return Err(Syntax(source));
    }
    Ok(alloc!(mu, NewStr::from(source))?)
}
fn f<'s>(mu: &mut Mutator, source: &'s str) -> Result<usize, Syntax<'s>> {
    let text = rebind!(read(mu, source)?);
    let other = pass!(length(mu, =text));
    Ok(other)
}
fn length(mu: &mut Mutator, text: Local<'_, Str>) -> usize {
    mu.safepoint();
    text.get(mu).len()
}
