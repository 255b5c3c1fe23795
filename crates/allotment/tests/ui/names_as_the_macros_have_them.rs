// compiles: constants and variables of the user
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

#[allow(non_upper_case_globals)]
const live: () = ();
#[allow(non_upper_case_globals)]
const new_: () = ();
#[allow(non_upper_case_globals)]
const span: () = ();
#[allow(non_upper_case_globals)]
const frame: () = ();
#[allow(non_upper_case_globals)]
const linked: () = ();
#[allow(non_upper_case_globals)]
const value: () = ();
#[allow(non_upper_case_globals)]
const cell: () = ();
#[allow(non_upper_case_globals)]
const bits: () = ();
#[allow(non_upper_case_globals)]
const pointer: () = ();
#[allow(non_upper_case_globals)]
const object: () = ();
#[allow(non_upper_case_globals)]
const raw: () = ();
fn f(mu: &mut Mutator) -> u64 {
    let mut p = alloc!(mu, new(None)).unwrap();
    let q = alloc!(mu, [p] => new(Some(p))).unwrap();
    root!(mu, q = q);
    keep!(mu, [p] => mu.collect());
    let p = rebind!(mu, p);
    p.key + q.get(mu).key
}
