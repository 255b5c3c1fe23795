// E0277 (a Deref that collects must not be called by the macro)
// says: is not a reference to a mutator
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

use std::cell::{Cell, OnceCell};
use std::ops::{Deref, DerefMut};
struct Evil<'m, 't>(Cell<Option<&'m mut Mutator<'t>>>, OnceCell<&'m Mutator<'t>>);
impl<'t> Deref for Evil<'_, 't> {
    type Target = Mutator<'t>;
    fn deref(&self) -> &Mutator<'t> {
        if let Some(mu) = self.0.take() {
            mu.collect();
            let _ = self.1.set(mu);
        }
        self.1.get().unwrap()
    }
}
impl<'t> DerefMut for Evil<'_, 't> {
    fn deref_mut(&mut self) -> &mut Mutator<'t> {
        self.0.get_mut().as_mut().unwrap()
    }
}

fn g(a: Local<'_, Node>) -> u64 { 0 }
fn h<'m>(call: Call<'m, (Gc<'_, Node>,)>) -> u64 { 0 }

fn f<'a>(mut evil: Evil<'a, 'a>, a: Gc<'a, Node>) -> u64 {
    alloc!(evil, new(Some(a))).unwrap().key
}
