//! The steps of the macros between two spans, while every object moves and freed memory is
//! overwritten: mutators behind a field, user code that runs as late as it can, and the macros
//! behind the derives, called by hand.
#![forbid(unsafe_code)]

mod api_common;

use allotment::{
    Call, Carry, Field, Gc, Heap, Local, Mutator, NewStr, Object, OutOfMemory, Plain, Str, WeakField, Word,
    alloc, call, enter, keep, pass, rebind, ret, root,
};
use api_common::*;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Everything moves at every collection, and what it leaves is overwritten.
fn moving() -> Heap {
    Heap::builder().max_heap_size(16 << 20).options("+ZealMove,+ZealPoison").unwrap().build().unwrap()
}

/// Garbage below the live objects, and a collection.
fn collect(mu: &mut Mutator) {
    for _ in 0..100 {
        alloc!(mu, node(0xdead)).unwrap();
    }
    mu.collect();
}

struct Vm<'m, 't> {
    mu: &'m mut Mutator<'t>,
    collections: usize,
}

impl Vm<'_, '_> {
    fn collect(&mut self) {
        collect(self.mu);
        self.collections += 1;
    }

    fn make(&mut self, key: u64) -> Result<Gc<'_, Node>, OutOfMemory> {
        self.collect();
        alloc!(self.mu, node(key))
    }

    fn either(&mut self, one: Local<'_, Node>, other: bool) -> Result<Gc<'_, Node>, OutOfMemory> {
        self.collect();
        if !other {
            ret!(self.mu, Ok(one.get(self.mu)));
        }
        self.make(100)
    }
}

fn longest<'m>(
    call: Call<'m, (Gc<'_, Node>, u64, Option<Gc<'_, Node>>)>,
) -> Result<Gc<'m, Node>, OutOfMemory> {
    enter!(call => mu, (mut one, more, other));
    root!(mu, other = other);
    keep!(mu, [one] => collect(mu));
    let key = one.key + more + other.get(mu).map_or(0, |other| other.key);
    alloc!(mu, [one] => NewNode { next: Some(one), seen: None, key })
}

#[test]
fn a_mutator_behind_a_field_is_as_good_as_a_variable() {
    let heap = moving();
    heap.attach(|mu| {
        let vm = &mut Vm { mu, collections: 0 };
        let mut a = alloc!(vm.mu, node(1)).unwrap();
        let mut b = alloc!(vm.mu, [a] => NewNode { next: Some(a), seen: None, key: 2 }).unwrap();
        for _ in 0..20 {
            keep!(vm.mu, [a, b] => vm.collect());
            let c = alloc!(vm.mu, [a, b] => NewNode { next: Some(b), seen: Some(a), key: 3 }).unwrap();
            assert_eq!((c.key, a.key, b.next.load(vm.mu).unwrap().key), (3, 1, 1));
        }
        root!(vm.mu, a = a, mut b = b);
        let made = rebind!(vm.mu, vm.make(7).unwrap());
        assert_eq!((made.key, a.get(vm.mu).key, b.get(vm.mu).key), (7, 1, 2));
        b.set(vm.mu, made);
        assert_eq!(pass!(vm.mu => vm.either(=b.get(vm.mu), false).unwrap()).key, 7);
        assert_eq!(pass!(vm.mu => vm.either(=b.get(vm.mu), true)).unwrap().key, 100);
        let sum = call!(vm.mu, longest(a.get(vm.mu), 40, Some(b.get(vm.mu))).unwrap());
        assert_eq!((sum.key, sum.next.load(vm.mu).unwrap().key), (48, 1));
        assert_eq!(vm.collections, 20 + 1 + 1 + 2);
    })
    .unwrap();
}

#[test]
fn a_result_is_rebound_after_what_is_done_with_it() {
    fn make<'m>(mu: &'m mut Mutator, key: u64) -> Result<Gc<'m, Node>, OutOfMemory> {
        collect(mu);
        alloc!(mu, node(key))
    }
    moving()
        .attach(|mu| {
            for round in 0..20 {
                assert_eq!(rebind!(make(mu, round).unwrap()).key, round);
                let b = pass!(make(mu, 7).map(Some).unwrap());
                root!(mu, b = b);
                let c = rebind!(make(mu, 9).ok());
                root!(mu, c = c);
                let d = call!(mu, longest(b.get(mu).unwrap(), 8, c.get(mu)).expect("room"));
                assert_eq!(d.key, 24);
            }
        })
        .unwrap_or_else(|error| panic!("{error}"));
}

/// Collects when it is dropped: as late as a temporary can.
struct Late<'c, 'm, 't>(&'c RefCell<&'m mut Mutator<'t>>);
impl Drop for Late<'_, '_, '_> {
    fn drop(&mut self) {
        collect(&mut self.0.borrow_mut());
    }
}
impl Late<'_, '_, '_> {
    fn key(&self, key: u64) -> u64 {
        key
    }
}

/// Temporaries of an initialiser and of arguments collect when they are dropped.
#[test]
fn temporaries_that_collect_do_so_before_a_span_is_forgotten() {
    moving()
        .attach(|mu| {
            let cell = RefCell::new(&mut *mu);
            for round in 0..20 {
                let new = NewNode { next: None, seen: None, key: Late(&cell).key(round) };
                let mut guard = cell.borrow_mut();
                let m: &mut Mutator = &mut guard;
                root!(m, kept = alloc!(m, new).unwrap());
                assert_eq!(pass!(m => { |m: &mut Mutator, kept: Local<'_, Node>| { collect(m); kept.get(m).key } }(m, =kept.get(m))), round);
            }
        })
        .unwrap();
}

/// An error of the user, whose `Drop` looks at no object, travels in a live list.
#[derive(Debug)]
struct Loud<'c>(&'c RefCell<u64>);
impl Drop for Loud<'_> {
    fn drop(&mut self) {
        *self.0.borrow_mut() += 1;
    }
}

#[test]
fn errors_with_a_drop_are_dropped_once() {
    let dropped = RefCell::new(0);
    moving()
        .attach(|mu| {
            for round in 0..20 {
                let node = alloc!(mu, node(round)).unwrap();
                let (mut good, mut bad) = (Ok::<_, Loud>(node), Err::<Gc<'_, Node>, _>(Loud(&dropped)));
                keep!(mu, [good, bad] => collect(mu));
                let other = alloc!(mu, [good, bad] => node_of(1)).unwrap();
                assert_eq!((other.key, good.as_ref().unwrap().key, bad.is_err()), (1, round, true));
                drop(bad);
                let stopped = catch_unwind(AssertUnwindSafe(|| {
                    let mut bad = Err::<Gc<'_, Node>, _>(Loud(&dropped));
                    keep!(mu, [bad] => {
                        collect(mu);
                        if round < 100 {
                            panic!("on purpose");
                        }
                    });
                    bad.is_err()
                }));
                assert!(stopped.is_err());
                assert_eq!(*dropped.borrow(), 2 * round + 2);
            }
        })
        .unwrap();
}

fn node_of<'g>(key: u64) -> NewNode<'g> {
    node(key)
}

#[derive(Object)]
struct Entry<K: Word, V: Word> {
    hash: u32,
    key: Field<K>,
    flag: bool,
    value: Field<V>,
    weak: WeakField<Entry<K, V>>,
    count: Plain<u16>,
}

#[derive(Object)]
#[repr(C)]
struct Ordered<T: Word> {
    byte: u8,
    slot: Field<T>,
    other: u8,
}

#[test]
fn generic_objects_keep_their_fields_in_whatever_order() {
    moving()
        .attach(|mu| {
            root!(mu, text = alloc!(mu, NewStr::from("text")).unwrap());
            root!(mu, node = alloc!(mu, node_of(5)).unwrap());
            let new = NewEntry::<Str, Node> {
                hash: 1,
                key: text.get(mu),
                flag: true,
                value: node.get(mu),
                weak: None,
                count: Plain::new(3),
            };
            root!(mu, entry = alloc!(mu, new).unwrap());
            let ordered = NewOrdered::<Entry<Str, Node>> { byte: 1, slot: entry.get(mu), other: 2 };
            root!(mu, ordered = alloc!(mu, ordered).unwrap());
            entry.get(mu).weak.store(mu, Some(entry.get(mu)));
            for _ in 0..10 {
                collect(mu);
                let entry = ordered.get(mu).slot.load(mu);
                assert_eq!((entry.hash, entry.flag, entry.count.get()), (1, true, 3));
                assert_eq!((&*entry.key.load(mu), entry.value.load(mu).key), ("text", 5));
                assert_eq!(entry.weak.load(mu), Some(entry));
                assert_eq!((ordered.get(mu).byte, ordered.get(mu).other), (1, 2));
            }
        })
        .unwrap();
}

/// The macros behind the derives are called by hand, rightly.
mod by_hand {
    use super::{Field, Gc, Node};

    pub(super) struct Leaf {
        pub(super) key: u64,
        pub(super) next: Field<Option<Node>>,
    }
    allotment::__object! {
        docs ["By hand."]
        object pub(super) struct Leaf
        params []
        predicates []
        new NewLeaf
        span '__al at '__al_at ['__al]
        downcast [Leaf]
        layout own []
        fields [
            { [] [] pub(super) key plain u64, "" }
            { [] [] pub(super) next slot Strong Field<Option<Node>>, }
        ]
    }

    pub(super) struct State<'g> {
        pub(super) leaf: Gc<'g, Leaf>,
        pub(super) word: Val<'g>,
    }
    allotment::__carry! {
        carry State
        span 'g at '__al_at
        lifetimes []
        params []
        predicates []
        fields [{ leaf [Gc<'g, Leaf>] } { word [Val<'g>] }]
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(super) enum Val<'g> {
        Leaf(Gc<'g, Leaf>),
        Int(i32),
    }
    allotment::__word! {
        docs []
        word pub(super) enum Value
        bare Val at 'g [Val<'g>]
        units []
        immediates [{ Int 126 }]
        pointers 1 [{ Leaf 0 }]
    }
}

#[test]
fn what_is_made_by_hand_is_traced() {
    use by_hand::{Leaf, NewLeaf, State, Val, Value};
    moving()
        .attach(|mu| {
            let mut next = alloc!(mu, node(9)).unwrap();
            for _ in 0..10 {
                let leaf = alloc!(mu, [next] => NewLeaf { key: 8, next: Some(next) }).unwrap();
                let mut state = State { leaf, word: Val::Leaf(leaf) };
                keep!(mu, [state, next] => collect(mu));
                assert_eq!((state.leaf.key, state.leaf.next.load(mu).map(|next| next.key)), (8, Some(9)));
                assert_eq!(state.word, Val::Leaf(state.leaf));
                assert!(state.leaf.as_any().downcast::<Leaf>().is_some());
                root!(mu, mut word = state.word);
                word.set(mu, Val::Int(-1));
                let _: &allotment::LocalMut<'_, Value> = &word;
                assert_eq!(word.get(mu), Val::Int(-1));
                let state = rebind!(mu, state);
                next = state.leaf.next.load(mu).unwrap();
            }
        })
        .unwrap();
}

/// A struct whose parameter is carried as it is.
#[derive(Carry)]
struct Labelled<'g, 'a, T: ?Sized, const N: usize>
where
    T: 'a,
{
    nodes: [Gc<'g, Node>; N],
    label: &'a T,
}

#[test]
fn carried_structs_keep_their_other_parameters() {
    let label = String::from("label");
    moving()
        .attach(|mu| {
            let node = alloc!(mu, node(3)).unwrap();
            let mut labelled = Labelled { nodes: [node; 2], label: &*label };
            for _ in 0..10 {
                keep!(mu, [labelled] => collect(mu));
                assert_eq!((labelled.nodes[1].key, labelled.label), (3, "label"));
            }
        })
        .unwrap();
}

#[test]
fn the_same_beside_the_concurrent_collector() {
    again_beside_cycles("the_same_beside_the_concurrent_collector");
}
