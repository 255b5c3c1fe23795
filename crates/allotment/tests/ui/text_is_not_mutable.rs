// E0596
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(text: Gc<'_, Str>) {
    text.as_ref().make_ascii_uppercase();
}
