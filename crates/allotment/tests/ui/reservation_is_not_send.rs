// E0277
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(mu: &mut Mutator) {
    let room = mu.make_room(64).unwrap();
    std::thread::scope(|s| {
        s.spawn(move || room.bytes());
    });
}
