//! A plugin that brings its own copy of allotment, and a constructor that runs before all of that.

use allotment::{Heap, NewStr, Object, Str, alloc, root};

#[derive(Object)]
struct Mine {
    key: u64,
}

extern "C" fn early() {
    let heap =
        Heap::builder().max_heap_size(16 << 20).options("ZealInterval=3,+ZealMove").unwrap().build().unwrap();
    heap.attach(|mu| {
        root!(
            mu,
            mine = alloc!(mu, NewMine { key: 3 }).unwrap(),
            text = alloc!(mu, NewStr::from("text")).unwrap()
        );
        assert!(mine.get(mu).as_any().is::<Mine>() && text.get(mu).as_any().is::<Str>());
        mu.collect();
        assert_eq!((mine.get(mu).key, &*text.get(mu)), (3, "text"));
    })
    .unwrap();
    heap.verify().unwrap();
    println!("alone: early");
}

// SAFETY: the section holds pointers to functions that take no arguments.
#[used]
#[unsafe(link_section = ".init_array.00001")]
static EARLY: extern "C" fn() = early;
