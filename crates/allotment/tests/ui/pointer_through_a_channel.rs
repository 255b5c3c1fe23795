// E0277
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(mu: &mut Mutator, a: Local<'_, Node>) {
    let (sender, receiver) = std::sync::mpsc::channel();
    sender.send(a.get(mu)).unwrap();
    std::thread::scope(|s| {
        s.spawn(move || receiver.recv().unwrap().key);
    });
}
