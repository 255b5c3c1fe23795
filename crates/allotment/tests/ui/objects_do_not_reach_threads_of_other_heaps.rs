// E0277
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn new<'g>(next: Option<Gc<'g, Node>>) -> NewNode<'g> {
    NewNode { next, key: 0 }
}

fn f(one: &Heap, two: &Heap, head: &Root<Node>) {
    one.attach(|mu| {
        let shared: &Node = head.get(mu).as_ref();
        std::thread::scope(|s| {
            s.spawn(|| two.attach(|mu2| Root::new(mu2, shared.next.load(mu2).unwrap())).unwrap()).join().unwrap();
        })
    })
    .unwrap();
}
