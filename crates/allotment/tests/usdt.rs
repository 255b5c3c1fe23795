//! The probes are in the program that links the heap, where tracers look for them.

#![cfg(feature = "usdt")]

use allotment::{Heap, NewStr, OutOfMemory, alloc};
use object::{Object, ObjectSection};
use std::collections::BTreeMap;

/// The provider, name and arguments of each note of `.note.stapsdt`, and how many places it has.
fn probes(file: &[u8]) -> BTreeMap<(String, String), (usize, usize)> {
    let file = object::File::parse(file).expect("an ELF file");
    let notes = file.section_by_name(".note.stapsdt").expect("notes of probes");
    let (mut rest, mut probes) = (notes.data().expect("bytes"), BTreeMap::new());
    while rest.len() >= 12 {
        let word = |at: usize| u32::from_le_bytes(rest[at..at + 4].try_into().expect("four")) as usize;
        let (name, description, kind) = (word(0), word(4), word(8));
        let begin = 12 + name.next_multiple_of(4);
        assert_eq!((&rest[12..12 + name], kind), (&b"stapsdt\0"[..], 3));
        // Three addresses: the probe, the base, the semaphore.
        let texts = &rest[begin + 24..begin + description];
        let mut texts = texts.split(|&byte| byte == 0).map(|text| String::from_utf8_lossy(text).into_owned());
        let mut text = || texts.next().expect("a text");
        let (key, arguments) = ((text(), text()), text());
        let count = arguments.split_whitespace().count();
        let entry = probes.entry(key).or_insert((count, 0));
        assert_eq!(entry.0, count, "each place of a probe has the same arguments");
        entry.1 += 1;
        rest = &rest[begin + description.next_multiple_of(4)..];
    }
    probes
}

#[test]
fn each_probe_has_a_note_with_its_arguments() {
    // The program has what it calls.
    let heap = Heap::builder().max_heap_size(8 << 20).build().expect("a heap");
    heap.set_allocation_sample_interval(4096);
    let allocated = heap.attach(|mu| {
        for _ in 0..100_000 {
            alloc!(mu, NewStr::from("in the heap"))?;
        }
        mu.collect();
        Ok::<(), OutOfMemory>(())
    });
    allocated.expect("attached").expect("room");

    let program = std::fs::read(std::env::current_exe().expect("this program")).expect("it can be read");
    let found = probes(&program);
    let arguments = [
        ("buffer_refill", 1),
        ("collection_begin", 0),
        ("collection_end", 5),
        ("phase_begin", 2),
        ("phase_end", 3),
        ("region_taken", 1),
        ("sample", 1),
        ("stall_begin", 1),
        ("stall_end", 2),
    ];
    let expected: BTreeMap<_, _> =
        arguments.map(|(name, count)| (("allotment".to_owned(), name.to_owned()), count)).into();
    let counts: BTreeMap<_, _> = found.iter().map(|(key, (count, _))| (key.clone(), *count)).collect();
    assert_eq!(counts, expected, "{found:?}");
}
