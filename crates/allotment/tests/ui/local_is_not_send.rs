// E0277
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(a: Local<'_, Node>) {
    std::thread::scope(|s| {
        s.spawn(move || {
            let _a = a;
        });
    });
}
