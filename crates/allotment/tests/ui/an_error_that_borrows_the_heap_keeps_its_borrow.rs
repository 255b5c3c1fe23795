// E0502
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f<'m>(mu: &'m mut Mutator, text: Local<'_, Str>) -> usize {
    let error: Result<Gc<'_, Node>, &str> = Err(text.get(mu).as_ref());
    let error = rebind!(mu, error);
    mu.safepoint();
    error.unwrap_err().len()
}
