// E0080
// says once: field `text`: an object of the heap is never dropped: text of the heap is `Field<Str>`
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Object)]
struct Bad {
    first: u64,
    text: String,
    last: Field<Option<Node>>,
}
