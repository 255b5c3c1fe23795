// E0451
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

mod inner {
    #[derive(allotment::Object)]
    pub struct Secret {
        key: u64,
    }
}
fn f(mu: &mut Mutator) {
    let _ = alloc!(mu, inner::NewSecret { key: 1 });
}
