//! Code that runs before the library's own initialisers, and before those of its types:
//! constructors of each priority and of the crate `ctor`, and the code before all of them.

use allotment::{
    Bytes, Field, Heap, IdMap, List, Map, Mutator, NewArray, NewBytes, NewIdMap, NewList, NewMap, NewStr,
    Object, Str, Unboxed, alloc, pass, root,
};
use std::sync::Mutex;

#[derive(Object)]
struct Node {
    next: Field<Option<Node>>,
    key: u64,
}

#[derive(Object)]
struct Generic<T: allotment::Word> {
    value: Field<T>,
}

/// The results of the constructors, in order.
static DONE: Mutex<Vec<(&str, Result<(), String>)>> = Mutex::new(Vec::new());

/// Types of the library and of this file, with and without parameters, through collections that
/// move and check.
fn allocate(mu: &mut Mutator<'_>) {
    root!(mu, text = alloc!(mu, NewStr::from("text")).unwrap());
    root!(mu, bytes = alloc!(mu, NewBytes::from(&b"bytes"[..])).unwrap());
    root!(mu, array = alloc!(mu, NewArray::<Option<Str>>::new(3, None)).unwrap());
    root!(mu, list = alloc!(mu, NewList::<Str>::new()).unwrap());
    root!(mu, map = alloc!(mu, NewMap::<Str, Unboxed<u32>>::new()).unwrap());
    root!(mu, by_identity = alloc!(mu, NewIdMap::<Str, Unboxed<u32>>::new()).unwrap());
    root!(mu, mut chain = alloc!(mu, NewNode { next: None, key: 0 }).unwrap());
    root!(mu, generic = alloc!(mu, NewGeneric::<Str> { value: text.get(mu) }).unwrap());
    assert!(text.get(mu).as_any().is::<Str>() && !text.get(mu).as_any().is::<Bytes>());
    assert!(bytes.get(mu).as_any().is::<Bytes>() && !bytes.get(mu).as_any().is::<Str>());
    assert!(chain.get(mu).as_any().is::<Node>() && !chain.get(mu).as_any().is::<Str>());
    let hash = mu.identity_hash(chain.get(mu));
    root!(mu, first = chain.get(mu));
    for key in 1..1000 {
        let node = alloc!(mu, NewNode { next: Some(chain.get(mu)), key }).unwrap();
        chain.set(mu, node);
        List::push(mu, list, text).unwrap();
    }
    pass!(Map::insert(mu, map, text, =Unboxed(1))).unwrap();
    pass!(IdMap::insert(mu, by_identity, text, =Unboxed(2))).unwrap();
    for _ in 0..3 {
        mu.collect();
    }
    assert_eq!(mu.identity_hash(first.get(mu)), hash);
    assert_eq!((&*text.get(mu), &*bytes.get(mu)), ("text", &b"bytes"[..]));
    assert_eq!((array.get(mu).len(), list.get(mu).len(), chain.get(mu).key), (3, 999, 999));
    assert_eq!(map.get(mu).get_str(mu, "text"), Some(Unboxed(1)));
    assert_eq!(by_identity.get(mu).get(mu, text.get(mu)), Some(Unboxed(2)));
    assert_eq!(generic.get(mu).value.load(mu), text.get(mu));
    assert!(first.get(mu).as_any().downcast::<Node>().is_some_and(|node| node.key == 0));
}

fn heap(options: &str) -> Heap {
    Heap::builder().max_heap_size(16 << 20).options(options).unwrap().build().unwrap()
}

fn run(when: &'static str) {
    let outcome = std::panic::catch_unwind(|| {
        for options in
            ["", "ZealInterval=7,+ZealMove,+ZealPoison,VerifyGCLevel=3,+VerifyBeforeGC,+VerifyAfterGC"]
        {
            let heap = heap(options);
            heap.attach(allocate).unwrap();
            heap.verify().unwrap();
        }
    });
    let outcome = outcome.map_err(|panic| panic.downcast::<String>().map_or("a panic".into(), |text| *text));
    DONE.lock().unwrap().push((when, outcome));
}

/// The operations of a program without `unsafe`.
#[forbid(unsafe_code)]
mod safe {
    #[ctor::ctor]
    fn with_the_crate() {
        super::run("ctor");
    }
}

/// Puts a function into a section of initialisers.
macro_rules! initialiser {
    ($name:ident, $section:literal) => {
        extern "C" fn $name() {
            run($section);
        }
        const _: () = {
            // SAFETY: the section holds pointers to functions that take no arguments.
            #[used]
            #[unsafe(link_section = $section)]
            static ENTRY: extern "C" fn() = $name;
        };
    };
}
initialiser!(preinit, ".preinit_array");
initialiser!(earliest, ".init_array.0");
initialiser!(reserved, ".init_array.00001");
initialiser!(late, ".init_array.65535");
initialiser!(unsorted, ".init_array");

#[test]
fn whoever_runs_before_main_allocates_and_collects() {
    let done = DONE.lock().unwrap();
    let wrong: Vec<_> = done.iter().filter(|(_, outcome)| outcome.is_err()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    let names: Vec<_> = done.iter().map(|(name, _)| *name).collect();
    for name in
        ["ctor", ".preinit_array", ".init_array.0", ".init_array.00001", ".init_array.65535", ".init_array"]
    {
        assert!(names.contains(&name), "{name} did not run: {names:?}");
    }
}

/// A heap that was built before `main` and has its threads later.
#[test]
fn a_heap_from_before_main_goes_on() {
    static EARLY: Mutex<Option<Heap>> = Mutex::new(None);
    #[ctor::ctor]
    fn build() {
        *EARLY.lock().unwrap() = Some(heap("+ZealMove"));
    }
    let heap = EARLY.lock().unwrap().take().unwrap();
    heap.attach(allocate).unwrap();
    heap.verify().unwrap();
}
