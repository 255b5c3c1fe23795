//! Files of our heaps are read back; broken ones are errors.

use super::*;
use crate::command::tell_heap;
use allotment::raw::{Shape, SlotKind};
use allotment::stats::{SnapshotFormat, SnapshotSettings};
use allotment::{Heap, NewStr, alloc, root};
use proptest::prelude::*;
use std::sync::LazyLock;

const LENGTH: u64 = 50;

/// A root and two objects in V8's format, without edges.
const EMPTY: &str = r#"{"snapshot":{"meta":{
"node_fields":["type","name","id","self_size","edge_count"],"node_types":[["synthetic","object"],"string","n"],
"edge_fields":["type","name_or_index","to_node"],"edge_types":[["a"],"string_or_number","to"]},
"node_count":3,"edge_count":0},"nodes":[0,0,1,0,0,1,1,2,16,0,1,0,3,8,0],"edges":[],"strings":["(frames)","a\nb"]}"#;

/// A heap with a list of pairs and a text, in both formats.
static FILES: LazyLock<[Vec<u8>; 2]> = LazyLock::new(|| {
    let heap = Heap::builder().max_heap_size(16 << 20).build().unwrap();
    let pair = Shape::fixed("Pair", 24).slot("car", 8, SlotKind::Weak).slot("cdr", 16, SlotKind::Strong);
    let pair = heap.register(pair).unwrap();
    heap.attach(|mutator| {
        root!(mutator, _text = alloc!(mutator, NewStr::from("text")).unwrap());
        // SAFETY: null refers to nothing.
        let list = unsafe { mutator.raw().new_root(0) };
        for _ in 0..LENGTH {
            // SAFETY: the shape is the heap's; the words are null, or refer to live objects.
            unsafe {
                let new = mutator.raw_mut().alloc_raw(pair, 0).unwrap();
                let next = list.get(mutator).unwrap();
                mutator.raw().store(new.as_ptr().byte_add(8).cast(), next);
                mutator.raw().store(new.as_ptr().byte_add(16).cast(), next);
                list.set(mutator, new.as_ptr() as u64);
            }
        }
        [SnapshotFormat::HeapSnapshot, SnapshotFormat::Hprof].map(|format| {
            let mut file = Vec::new();
            mutator.snapshot(&mut file, &SnapshotSettings::default().format(format)).unwrap();
            file
        })
    })
    .unwrap()
});

#[test]
fn rows_and_retained_bytes_of_both_formats_are_those_of_the_heap() {
    for file in &*FILES {
        let snapshot = read(&mut &file[..], Depth::References).unwrap();
        assert_eq!(snapshot.by_name()["Pair"], (LENGTH, LENGTH * 24));
        assert_eq!(
            read(&mut &file[..], Depth::Rows).unwrap().rows.iter().filter(|row| !row.synthetic).count(),
            snapshot.rows.iter().filter(|row| !row.synthetic).count()
        );
        let dominators = snapshot.graph.dominators().unwrap();
        let retained = dominators.retained_by_class(&snapshot.graph.class, snapshot.rows.len()).unwrap();
        let row = snapshot.rows.iter().position(|row| &*row.name == "Pair").unwrap();
        assert_eq!(retained[row], LENGTH * 24);
        // The first of the list holds all of it, the last itself.
        let mut sizes: Vec<u64> = (0..snapshot.graph.nodes())
            .filter(|node| snapshot.graph.class[*node] as usize == row)
            .map(|node| dominators.retained[node])
            .collect();
        sizes.sort_unstable();
        assert_eq!(sizes, (1..=LENGTH).map(|length| length * 24).collect::<Vec<_>>());
        let roots: u64 = snapshot.roots.iter().map(|(_, count)| count).sum();
        assert_eq!(roots, 2, "{:?}", snapshot.roots);
    }
    let [v8, hprof] = FILES.each_ref().map(|file| read(&mut &file[..], Depth::Rows).unwrap());
    // HPROF has no weak references, and one from the text to its bytes.
    assert_eq!((v8.references, hprof.references), (2 * (LENGTH - 1), LENGTH));
    let layouts = v8.layouts.unwrap();
    let pair = layouts.iter().find(|layout| layout.name == "Pair").unwrap();
    assert_eq!((pair.objects, pair.fixed_bytes, pair.slots.len(), pair.slots[0].weak), (LENGTH, 24, 2, true));
    assert!(hprof.layouts.is_none());
}

/// As V8 writes it: nodes of roots stand between others, and several have one name.
#[test]
fn roots_are_told_wherever_their_nodes_are() {
    let mut file = EMPTY.replace("\"node_count\":3,\"edge_count\":0", "\"node_count\":5,\"edge_count\":3");
    file = file.replace("0,1,0,3,8,0]", "0,1,0,3,8,1,0,1,4,0,1,0,1,5,0,1]");
    file = file.replace("\"edges\":[]", "\"edges\":[0,0,5,0,0,5,0,0,5]");
    for depth in [Depth::Rows, Depth::References] {
        let snapshot = read(&mut file.as_bytes(), depth).unwrap();
        assert_eq!(snapshot.roots, [("a\nb".to_owned(), 2)]);
        assert_eq!(snapshot.references, 1);
    }
}

/// A node is called by its id, and a reference by its name; shortcuts are references of the root only.
#[test]
fn ids_and_names_of_references_are_those_of_the_file() {
    let mut file = EMPTY.replace("\"node_count\":3,\"edge_count\":0", "\"node_count\":3,\"edge_count\":5");
    file = file.replace(
        "[[\"a\"],\"string",
        "[[\"context\",\"element\",\"property\",\"hidden\",\"shortcut\",\"weak\"],\"string",
    );
    file = file
        .replace("\"nodes\":[0,0,1,0,0,1,1,2,16,0,1,0,3,8,0]", "\"nodes\":[0,0,1,0,1,1,1,70,16,4,1,0,9,8,0]");
    file = file.replace("\"edges\":[]", "\"edges\":[4,0,5,2,1,10,4,0,10,1,7,10,5,0,10]");
    let snapshot = read(&mut file.as_bytes(), Depth::References).unwrap();
    assert_eq!(snapshot.ids, [1, 70, 9]);
    assert_eq!(snapshot.graph.first, [0, 1, 3, 3]);
    let labels: Vec<_> = (0..3).map(|place| snapshot.labels.text(place).into_owned()).collect();
    assert_eq!(labels, ["(frames)", "a\nb", "[7]"]);
    let told = tell_heap(file.as_bytes()).unwrap();
    assert!(told.contains("(frames) @9, held by a\\nb of a\\nb @70:"), "{told}");
    let error = tell_heap(file.replace("2,1,10", "2,99,10").as_bytes()).unwrap_err();
    assert!(error.contains("string 99 is a name, and there are 2 strings"), "{error}");
}

#[test]
fn shapes_named_as_roots_are_shown_and_names_stay_on_their_lines() {
    let told = tell_heap(EMPTY.as_bytes()).unwrap();
    let lines = |name: &str| told.lines().filter(|line| line.ends_with(name)).count();
    // In the summary, and among the shapes that retain something.
    assert_eq!((lines("  (frames)"), lines("  a\\nb")), (2, 2), "{told}");
}

#[test]
fn a_name_in_hprof_has_a_limit() {
    let name = |bytes: u32| {
        let mut file = FILES[1].clone();
        let end = file.len() - 9;
        let mut record = vec![1, 0, 0, 0, 0];
        record.extend((8 + bytes).to_be_bytes());
        record.extend(u64::MAX.to_be_bytes());
        record.resize(record.len() + bytes as usize, b'x');
        file.splice(end..end, record);
        tell_heap(&file)
    };
    name(1 << 20).unwrap();
    assert!(name((1 << 20) + 1).unwrap_err().contains("a name of 1048577 bytes; 1048576 are the most"));
}

#[test]
fn a_cut_file_is_an_error_wherever_it_was_cut() {
    for file in &*FILES {
        tell_heap(file).unwrap();
        // The last byte of JSON is a new line.
        for length in 0..file.len() - 1 {
            let error = tell_heap(&file[..length]).unwrap_err();
            assert!(!error.is_empty());
        }
    }
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let v8 = String::from_utf8(FILES[0].clone()).unwrap();
    let nodes = |count: &str| v8.replace("\"node_count\":59", &format!("\"node_count\":{count}"));
    assert!(v8.contains("\"node_count\":59"));
    for (file, expected) in [
        (String::new(), "neither"),
        ("text".into(), "neither"),
        ("{\"nodes\":[]}".into(), "neither"),
        ("{\"snapshot\":{}}".into(), "without the field `type`"),
        (nodes("57"), "59 nodes, and `node_count` says 57"),
        (nodes("18446744073709551616"), "64 bits"),
        (v8.replace("\n,9,1,2,0,5\n", "\n,9,1,2,0,6\n"), "`edge_count` says"),
        (v8.replace("\n,9,1,2,0,5\n", "\n,99,1,2,0,5\n"), "type 99"),
        (v8.replace("\n,9,1,2,0,5\n", "\n,9,1000,2,0,5\n"), "string 1000"),
        (v8.replace("\"edges\":[1,1,5", "\"edges\":[1,1,6"), "where no node begins"),
        (v8.replace("\"nodes\":[9", "\"nodes\":[-9"), "whole number"),
        (v8.replace("\"nodes\":[9", "\"nodes\":[99999999999999999999999"), "64 bits"),
        (v8.replace("\"strings\"", "\"stringz\""), "missing"),
        (v8.clone() + "x", "more after the end"),
        (EMPTY.replace("\"edges\":[],", "\"edges\":[],\"edges\":[],"), "`edges` must come once"),
        (
            EMPTY.replace("[\"a\"]", &format!("[{}\"\"]", "\"\",".repeat(1 << 20))),
            "a value of more than 1048576 bytes",
        ),
        (
            EMPTY.replace("\"to\"]", &format!("\"to\"{}]", ",[]".repeat(1 << 20))),
            "a value of more than 1048576 bytes",
        ),
        ("[".repeat(1 << 20), "neither"),
        (format!("{{\"snapshot\":{}", "[".repeat(1 << 20)), "'[' where '{' belongs"),
        (format!("{{\"snapshot\":{{\"x\":{}", "[".repeat(1 << 20)), "nest too deep"),
    ] {
        let error = tell_heap(file.as_bytes()).unwrap_err();
        assert!(error.contains(expected), "{error}, not {expected}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn no_change_of_a_file_makes_the_reader_panic(
        format in 0usize..2, changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..3), 1..8),
    ) {
        let mut file = FILES[format].clone();
        for (place, byte, what) in changes {
            let place = place.index(file.len());
            match what {
                0 => file[place] = byte,
                1 => file.insert(place, byte),
                _ => drop(file.remove(place)),
            }
        }
        // Whatever it says, it says it.
        if let Err(error) = tell_heap(&file) {
            prop_assert!(!error.is_empty());
        }
    }
}
