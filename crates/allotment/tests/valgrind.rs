//! A program runs under valgrind, with which embedders search for their own errors. Code that is
//! not their own must not end the program.

use allotment::{Field, Heap, List, Map, NewList, NewMap, NewStr, Object, Str, Unboxed, alloc, pass, root};
use std::process::Command;

/// Tells the child that it is one.
const CHILD: &str = "ALLOTMENT_TEST_UNDER_VALGRIND";

#[derive(Object)]
struct Node {
    next: Field<Option<Node>>,
    key: u64,
}

/// The work of an embedder: threads allocate, hold roots and collect.
fn program(options: &str) {
    let heap = Heap::builder().max_heap_size(16 << 20).options(options).unwrap().build().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                heap.attach(|mu| {
                    root!(mu, list = alloc!(mu, NewList::<Str>::new()).unwrap());
                    root!(mu, map = alloc!(mu, NewMap::<Str, Unboxed<u32>>::new()).unwrap());
                    root!(mu, mut chain = alloc!(mu, NewNode { next: None, key: 0 }).unwrap());
                    for key in 1..3000 {
                        let node = alloc!(mu, NewNode { next: Some(chain.get(mu)), key }).unwrap();
                        chain.set(mu, node);
                        let text = (key % 50).to_string();
                        root!(mu, text = alloc!(mu, NewStr::from(&*text)).unwrap());
                        List::push(mu, list, text).unwrap();
                        pass!(Map::insert(mu, map, text, =Unboxed(key as u32))).unwrap();
                    }
                    mu.collect();
                    assert_eq!((chain.get(mu).key, list.get(mu).len(), map.get(mu).len()), (2999, 2999, 50));
                })
                .unwrap();
            });
        }
    });
    heap.verify().unwrap();
    println!("child: {options} done");
}

#[test]
fn a_program_runs_under_valgrind() {
    let options = ["", "Collector=mark-compact", "+AlwaysPreTouch,+ZealPoison"];
    if std::env::var_os(CHILD).is_some() {
        options.into_iter().for_each(program);
        // Valgrind has no room for that, and says that the request is not valid.
        if let Err(error) = Heap::builder().max_heap_size(1 << 40).build() {
            let error = error.to_string();
            assert!(error.contains("valgrind") && error.contains("smaller heap"), "{error}");
        }
        return;
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("valgrind is not installed: left out");
        return;
    }
    let output = Command::new("valgrind")
        .args(["--quiet", "--tool=memcheck", "--error-exitcode=9"])
        .arg(std::env::current_exe().expect("the test's own program"))
        .args(["--exact", "a_program_runs_under_valgrind", "--nocapture", "--test-threads", "1"])
        .env(CHILD, "1")
        .output()
        .expect("valgrind runs");
    let text =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(output.status.success(), "{:?}\n{text}", output.status);
    for options in options {
        assert!(text.contains(&format!("child: {options} done")), "{text}");
    }
}
