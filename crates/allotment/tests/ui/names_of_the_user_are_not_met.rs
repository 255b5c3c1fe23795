// compiles: functions, modules and macros of the user with names of core
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

mod hijacked {
    #![allow(dead_code)]
    pub const fn size_of<T>() -> ::core::primitive::usize {
        0
    }
    pub const fn needs_drop<T>() -> bool {
        false
    }
    pub fn drop<T>(value: T) {
        ::std::mem::forget(value);
    }
    pub struct Shape;
    pub struct Slot;
    pub struct Option;
    #[allow(non_camel_case_types)]
    pub struct u64;
    #[allow(non_camel_case_types)]
    pub struct usize;
    pub const HEADER_BYTES: usize = usize;
    macro_rules! offset_of {
        ($($any:tt)*) => { 0 };
    }
    macro_rules! assert {
        ($($any:tt)*) => {};
    }
    macro_rules! stringify {
        ($($any:tt)*) => { "" };
    }
    pub mod std {}
    pub mod core {}
    pub mod alloc {}
    #[derive(allotment::Object)]
    pub struct Pair {
        pub car: allotment::Field<Value>,
        pub cdr: allotment::Field<Value>,
        pub key: i32,
    }
    #[derive(Clone, Copy, allotment::Word)]
    #[word(Value)]
    pub enum Val<'g> {
        Nil,
        Int(i32),
        Pair(allotment::Gc<'g, Pair>),
    }
    #[derive(Clone, Copy, allotment::Carry)]
    pub struct Both<'g> {
        pub a: Val<'g>,
        pub b: allotment::Gc<'g, Pair>,
    }
    pub fn f(mu: &mut allotment::Mutator) -> i32 {
        let mut a = allotment::alloc!(mu, NewPair { car: Val::Nil, cdr: Val::Nil, key: 1 }).unwrap();
        let mut both = Both { a: Val::Pair(a), b: a };
        let c = allotment::alloc!(mu, [a, both] => NewPair { car: both.a, cdr: Val::Int(1), key: 1 }).unwrap();
        allotment::root!(mu, c = c);
        allotment::keep!(mu, [a] => mu.collect());
        a.key + c.get(mu).key
    }
}
