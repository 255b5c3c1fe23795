//! A dynamic value, as an interpreter has, and a typed object.
#![allow(dead_code, unreachable_pub)]

use allotment::{Field, Fixnum, Gc, Heap, Object, WeakField, Word};

#[path = "../own_program/mod.rs"]
mod own_program;
use own_program::own_program;

#[derive(Clone, Copy, Debug, PartialEq, Word)]
#[word(Value)]
pub enum Val<'g> {
    Nil,
    Int(i32),
    Sym(u32),
    Big(Fixnum),
    Flag(bool),
    Char(char),
    Float(f32),
    Pair(Gc<'g, Pair>),
    Closure(Gc<'g, Closure>),
    Node(Option<Gc<'g, Node>>),
}

#[derive(Debug, Object)]
pub struct Pair {
    pub car: Field<Value>,
    pub cdr: Field<Value>,
}

#[derive(Object)]
pub struct Closure {
    pub params: Field<Value>,
    pub body: Field<Value>,
    pub env: Field<Value>,
}

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Self>>,
    pub seen: WeakField<Self>,
    pub key: u64,
}

pub fn cons<'g>(car: Val<'g>, cdr: Val<'g>) -> NewPair<'g> {
    NewPair { car, cdr }
}

pub fn node<'g>(key: u64) -> NewNode<'g> {
    NewNode { next: None, seen: None, key }
}

/// Runs all other tests of this program again, in children, under the concurrent collector.
/// `this` is the name of the test that calls.
///
/// Setting the variable here would race with the other tests.
pub fn again_beside_cycles(this: &str) {
    for zeal in ["", ",ZealInterval=200,+ZealMove,+ZealPoison", ",ZealInterval=500,ZealEvacuationFailure=5"] {
        let output = own_program()
            .args(["--skip", this])
            .env("ALLOTMENT_OPTIONS", format!("Collector=shenandoah{zeal}"))
            .output()
            .expect("it runs once more");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{zeal}: {text}{}", String::from_utf8_lossy(&output.stderr));
        assert!(!text.contains(" 0 passed"), "{zeal}: {text}");
    }
}

pub fn heap() -> Heap {
    Heap::builder().max_heap_size(64 << 20).build().expect("64 MiB of address space")
}
