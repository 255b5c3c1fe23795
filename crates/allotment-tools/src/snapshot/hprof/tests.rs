//! Dumps made by code: what JVMs and Android write, in whatever order.

use crate::command::tell_heap;
use crate::snapshot::{Depth, NONE, Snapshot, read};
use proptest::prelude::*;
use std::collections::HashMap;

/// The type of fields that are references.
const OBJECT: u8 = 2;

/// A file that grows by records; `part` adds to the segment that `segment` ends.
#[derive(Clone)]
struct Dump {
    id_bytes: usize,
    file: Vec<u8>,
    segment: Vec<u8>,
    names: HashMap<String, u64>,
}

impl Dump {
    fn new(id_bytes: usize) -> Dump {
        let mut file = b"JAVA PROFILE 1.0.2\0".to_vec();
        file.extend((id_bytes as u32).to_be_bytes());
        file.extend([0; 8]);
        Dump { id_bytes, file, segment: Vec::new(), names: HashMap::new() }
    }

    fn id(&self, id: u64) -> Vec<u8> {
        id.to_be_bytes()[8 - self.id_bytes..].to_vec()
    }

    fn record(&mut self, tag: u8, body: &[u8]) {
        self.file.extend([tag, 0, 0, 0, 0]);
        self.file.extend((body.len() as u32).to_be_bytes());
        self.file.extend(body);
    }

    /// The id of a string, whose record is written when the string is met first.
    fn name(&mut self, name: &str) -> u64 {
        if let Some(id) = self.names.get(name) {
            return *id;
        }
        let id = self.names.len() as u64 + 1;
        self.names.insert(name.into(), id);
        self.record(0x01, &[&self.id(id), name.as_bytes()].concat());
        id
    }

    fn load(&mut self, class: u64, name: &str) {
        let name = self.name(name);
        let ids = [self.id(class), self.id(name)];
        self.record(0x02, &[&[0; 4], &ids[0][..], &[0; 4], &ids[1]].concat());
    }

    /// A part of a segment: a tag, an id, and the rest.
    fn part(&mut self, tag: u8, id: u64, rest: &[u8]) -> &mut Dump {
        self.segment.push(tag);
        self.segment.extend(self.id(id));
        self.segment.extend(rest);
        self
    }

    /// A class with static references and fields.
    fn class(
        &mut self,
        class: u64,
        [above, loader]: [u64; 2],
        statics: &[(&str, u64)],
        fields: &[(&str, u8)],
    ) {
        let mut rest = vec![0; 4];
        [above, loader, 0, 0, 0, 0].iter().for_each(|id| rest.extend(self.id(*id)));
        rest.extend([0; 6]);
        rest.extend((statics.len() as u16).to_be_bytes());
        for (name, target) in statics {
            let name = self.name(name);
            rest.extend(self.id(name));
            rest.push(OBJECT);
            rest.extend(self.id(*target));
        }
        rest.extend((fields.len() as u16).to_be_bytes());
        for (name, kind) in fields {
            let name = self.name(name);
            rest.extend(self.id(name));
            rest.push(*kind);
        }
        self.part(0x20, class, &rest);
    }

    /// An instance whose fields are all references.
    fn instance(&mut self, id: u64, class: u64, fields: &[u64]) {
        let fields: Vec<u8> = fields.iter().flat_map(|field| self.id(*field)).collect();
        let rest = [&[0; 4], &self.id(class)[..], &(fields.len() as u32).to_be_bytes(), &fields].concat();
        self.part(0x21, id, &rest);
    }

    fn objects(&mut self, id: u64, class: u64, elements: &[u64]) {
        let mut rest = vec![0; 4];
        rest.extend((elements.len() as u32).to_be_bytes());
        rest.extend(self.id(class));
        elements.iter().for_each(|element| rest.extend(self.id(*element)));
        self.part(0x22, id, &rest);
    }

    fn bytes(&mut self, id: u64, bytes: &[u8]) {
        let length = (bytes.len() as u32).to_be_bytes();
        self.part(0x23, id, &[&[0; 4], &length[..], &[8], bytes].concat());
    }

    /// Ends a segment with this tag.
    fn segment(&mut self, tag: u8) {
        let segment = std::mem::take(&mut self.segment);
        self.record(tag, &segment);
    }

    /// The file, ended as HotSpot ends it.
    fn end(mut self) -> Vec<u8> {
        if !self.segment.is_empty() {
            self.segment(0x1C);
        }
        self.record(0x2C, &[]);
        self.file
    }
}

fn whole(file: &[u8]) -> Snapshot {
    read(&mut &*file, Depth::References).unwrap()
}

/// The node with an id, its dominator's id and the bytes that it retains; `None` if nothing holds it.
fn held(snapshot: &Snapshot, id: u64) -> Option<(u64, u64)> {
    let dominators = snapshot.graph.dominators().unwrap();
    let node = snapshot.ids.iter().position(|found| *found == id).unwrap();
    let above = dominators.parent[node];
    (above != NONE).then(|| (snapshot.ids[above as usize], dominators.retained[node]))
}

/// References of an object: labels, and ids of the targets.
fn references(snapshot: &Snapshot, id: u64) -> Vec<(String, u64)> {
    let node = snapshot.ids.iter().position(|found| *found == id).unwrap();
    let places = snapshot.graph.first[node]..snapshot.graph.first[node + 1];
    let target = |place: usize| snapshot.ids[snapshot.graph.targets[place] as usize];
    places.map(|place| (snapshot.labels.text(place).into_owned(), target(place))).collect()
}

/// Class 0x100 has a list of nodes of the class 0x200 in a static field, and is a root. The list's
/// last node has an array with a node and with itself.
fn list(dump: &mut Dump) {
    dump.load(0x100, "app/Cache");
    dump.load(0x200, "app/Node");
    dump.load(0x300, "[Lapp/Node;");
    dump.class(0x100, [0, 0], &[("all", 0x1000)], &[]);
    dump.class(0x200, [0, 0x4000], &[], &[("next", OBJECT), ("data", OBJECT)]);
    dump.class(0x300, [0, 0x4000], &[], &[]);
    dump.instance(0x1000, 0x200, &[0x1020, 0]);
    dump.instance(0x1020, 0x200, &[0, 0x1040]);
    dump.objects(0x1040, 0x300, &[0, 0x1080, 0x1040]);
    dump.instance(0x1080, 0x200, &[0, 0x10A0]);
    dump.bytes(0x10A0, b"abcde");
    dump.instance(0x4000, 0x200, &[0, 0]);
    dump.part(0x05, 0x100, &[]);
}

fn list_file(id_bytes: usize) -> Vec<u8> {
    let mut dump = Dump::new(id_bytes);
    list(&mut dump);
    dump.end()
}

#[test]
fn what_a_static_field_holds_is_retained_by_its_class() {
    for id_bytes in [4, 8] {
        let file = list_file(id_bytes);
        let snapshot = whole(&file);
        // Where nothing shows that references are narrower than ids, they are not.
        let (node, array) = if id_bytes == 4 { (16, 24) } else { (32, 40) };
        let bytes = 24;
        // With the loader and two classes, which have no static fields.
        let class = if id_bytes == 4 { 8 } else { 16 };
        assert_eq!(held(&snapshot, 0x1000), Some((0x100, 4 * node + array + bytes + 2 * class)));
        assert_eq!(held(&snapshot, 0x1080), Some((0x1040, node + bytes)));
        assert_eq!(references(&snapshot, 0x100), [("static all".into(), 0x1000)]);
        assert_eq!(references(&snapshot, 0x1000), [("next".into(), 0x1020), ("<class>".into(), 0x200)]);
        assert_eq!(
            references(&snapshot, 0x1040),
            [("[1]".into(), 0x1080), ("[2]".into(), 0x1040), ("<class>".into(), 0x300)]
        );
        // A loader and its classes hold each other.
        assert_eq!(
            references(&snapshot, 0x4000),
            [("<class>".into(), 0x200), ("<classes>".into(), 0x200), ("<classes>".into(), 0x300)]
        );
        assert_eq!(references(&snapshot, 0x200), [("<classloader>".into(), 0x4000)]);
        assert_eq!(held(&snapshot, 0x4000).map(|(above, _)| above), Some(0x1000));
        assert_eq!(snapshot.by_name()["app.Node[]"], (1, array));
        assert_eq!(snapshot.by_name()["java.lang.Class"].0, 3);
        assert_eq!(read(&mut &file[..], Depth::Rows).unwrap().rows, snapshot.rows[1..]);
        assert_eq!(snapshot.references, 6);
        let told = tell_heap(&file).unwrap();
        let held = "app.Node @0x1000, held by static all of class app.Cache @0x100";
        assert!(told.split_whitespace().collect::<Vec<_>>().join(" ").contains(held), "{told}");
    }
}

/// The records of a file, head excluded.
fn records(file: &[u8]) -> Vec<&[u8]> {
    let (mut records, mut rest) = (Vec::new(), &file[31..]);
    while !rest.is_empty() {
        let length = u32::from_be_bytes(rest[5..9].try_into().unwrap()) as usize;
        let (record, behind) = rest.split_at(9 + length);
        records.push(record);
        rest = behind;
    }
    records
}

#[test]
fn records_may_come_in_any_order() {
    let file = list_file(8);
    let told = tell_heap(&file).unwrap();
    let (names, heap): (Vec<&[u8]>, Vec<&[u8]>) =
        records(&file).into_iter().partition(|record| record[0] <= 2);
    let names_last = [&file[..31], &heap.concat(), &names.concat()].concat();
    assert_eq!(tell_heap(&names_last).unwrap(), told);

    // Instances before their classes, a segment each; in one of the old form, too.
    let mut dump = Dump::new(8);
    dump.instance(0x1000, 0x200, &[0x1020, 0]);
    dump.segment(0x1C);
    dump.instance(0x1020, 0x200, &[0, 0]);
    dump.segment(0x0C);
    dump.load(0x200, "app/Node");
    dump.class(0x200, [0x300, 0], &[], &[("next", OBJECT)]);
    dump.part(0xFF, 0x1000, &[]);
    dump.segment(0x1C);
    dump.class(0x300, [0, 0], &[], &[("data", OBJECT)]);
    let snapshot = whole(&dump.end());
    assert_eq!(references(&snapshot, 0x1000), [("next".into(), 0x1020), ("<class>".into(), 0x200)]);
    assert_eq!(held(&snapshot, 0x1020), Some((0x1000, 32)));
    assert_eq!(snapshot.by_name()["app.Node"], (2, 64));
}

/// HotSpot writes the length of a heap when its end is known, if it fits.
#[test]
fn a_heap_of_length_0_goes_on_to_its_end() {
    let file = list_file(8);
    let told = tell_heap(&file).unwrap();
    let names: Vec<u8> =
        records(&file).into_iter().filter(|record| record[0] <= 2).flatten().copied().collect();
    let heap = records(&file).into_iter().find(|record| record[0] == 0x1C).unwrap();
    let without_length = |tag: u8, behind: &[u8]| {
        [&file[..31], &names, &[tag, 0, 0, 0, 0, 0, 0, 0, 0], &heap[9..], behind].concat()
    };
    let end = [0x2C, 0, 0, 0, 0, 0, 0, 0, 0];
    for tag in [0x0C, 0x1C] {
        for behind in [&[][..], &end] {
            assert_eq!(tell_heap(&without_length(tag, behind)).unwrap(), told);
        }
        let cut = without_length(tag, &[]);
        let error = tell_heap(&cut[..cut.len() - 1]).unwrap_err();
        assert!(error.contains("was not written to its end"), "{error}");
    }
    // A segment may be empty.
    let empty = [0x1C, 0, 0, 0, 0, 0, 0, 0, 0];
    let segments = [&file[..31], &names, &empty, heap, &empty, &end].concat();
    assert_eq!(tell_heap(&segments).unwrap(), told);
    // One whose program ended before it wrote anything is no heap.
    assert!(tell_heap(&[&file[..31], &names, &empty].concat()).is_err());
}

#[test]
fn dumps_of_android_are_read() {
    let mut dump = Dump::new(4);
    list(&mut dump);
    // Which heap the objects are in: a number, and a name.
    let name = dump.name("app");
    dump.segment.extend([0xFE, 0, 0, 0, 65]);
    dump.segment.extend((name as u32).to_be_bytes());
    for tag in [0x89, 0x8A, 0x8B, 0x8C, 0x8D] {
        dump.part(tag, 0x10A0, &[]);
    }
    dump.part(0x8E, 0x10A0, &[0; 8]);
    dump.instance(0x2000, 0x200, &[0, 0]);
    dump.part(0x90, 0x2000, &[]);
    // An array without its data.
    dump.part(0xC3, 0x2020, &[0, 0, 0, 0, 0, 0, 0, 9, 11]);
    let snapshot = whole(&dump.end());
    let kinds: Vec<&str> = snapshot.roots.iter().map(|(kind, _)| kind.as_str()).collect();
    let expected = ["system classes", "interned strings", "finalizing", "debugger", "reference cleanup"];
    assert_eq!(kinds, [&expected[..], &["VM internal", "JNI monitors"]].concat());
    assert_eq!(held(&snapshot, 0x10A0), Some((0, 24)));
    // What nothing leads to has a record among the roots, and is none.
    assert_eq!(held(&snapshot, 0x2000), None);
    assert_eq!(snapshot.by_name()["long[]"], (1, 88));
}

#[test]
fn a_thread_holds_its_local_variables() {
    let mut dump = Dump::new(8);
    list(&mut dump);
    dump.instance(0x2000, 0x200, &[0, 0]);
    dump.instance(0x3000, 0x200, &[0, 0]);
    // Thread 7, frames of it and of a thread that is not there.
    dump.part(0x03, 0x2000, &[0, 0, 0, 7, 0, 0, 0, 0]);
    dump.part(0x08, 0x4000, &[0, 0, 0, 7, 0, 0, 0, 0]);
    dump.part(0x02, 0x3000, &[0, 0, 0, 9, 0, 0, 0, 0]);
    let snapshot = whole(&dump.end());
    assert_eq!(held(&snapshot, 0x2000), Some((0x4000, 32)));
    assert!(references(&snapshot, 0x4000).contains(&("<Java Local>".into(), 0x2000)));
    assert_eq!(held(&snapshot, 0x3000), Some((0, 32)));
}

/// Classes of references; `Own` is a weak one with a field that has the name of the hidden one.
fn referents(roots: &[u64], instances: &[(u64, u64, [u64; 2])]) -> Snapshot {
    let mut dump = Dump::new(8);
    let classes = ["Reference", "SoftReference", "WeakReference", "PhantomReference", "FinalReference"];
    for (number, name) in classes.iter().enumerate() {
        let class = 0x100 * (number as u64 + 1);
        dump.load(class, &format!("java/lang/ref/{name}"));
        let fields: &[_] = if number == 0 { &[("referent", OBJECT), ("next", OBJECT)] } else { &[] };
        dump.class(class, [if number == 0 { 0 } else { 0x100 }, 0], &[], fields);
    }
    dump.class(0x600, [0x300, 0], &[], &[("referent", OBJECT)]);
    dump.class(0x700, [0, 0], &[], &[("a", OBJECT), ("b", OBJECT)]);
    for (id, class, fields) in instances {
        let own = if *class == 0x600 { vec![fields[1], fields[0], 0] } else { fields.to_vec() };
        dump.instance(*id, *class, &own);
    }
    for root in roots {
        dump.part(0xFF, *root, &[]);
    }
    whole(&dump.end())
}

const SOFT: u64 = 0x200;
const WEAK: u64 = 0x300;
const PHANTOM: u64 = 0x400;
const FINAL: u64 = 0x500;
const OWN: u64 = 0x600;
const PAIR: u64 = 0x700;

#[test]
fn a_referent_is_held_where_the_jvm_holds_it() {
    let holder = |class: u64| {
        let instances = [(0x1000, class, [0x2000, 0x3000]), (0x2000, PAIR, [0, 0]), (0x3000, PAIR, [0, 0])];
        let snapshot = referents(&[0x1000], &instances);
        [0x2000, 0x3000].map(|id| held(&snapshot, id).map(|(above, _)| above))
    };
    assert_eq!(holder(SOFT), [Some(0x1000), Some(0x1000)]);
    assert_eq!(holder(FINAL), [Some(0x1000), Some(0x1000)]);
    assert_eq!([WEAK, PHANTOM].map(holder), [[None, Some(0x1000)]; 2]);
    // The field of the subclass holds.
    assert_eq!(holder(OWN), [None, Some(0x1000)]);

    // What a pair holds is the pair's, whoever refers to it softly.
    for class in [SOFT, FINAL] {
        let instances = [
            (0x1000, class, [0x3000, 0]),
            (0x2000, PAIR, [0x3000, 0]),
            (0x3000, PAIR, [0x4000, 0]),
            (0x4000, PAIR, [0, 0]),
        ];
        let snapshot = referents(&[0x1000, 0x2000], &instances);
        assert_eq!(held(&snapshot, 0x3000), Some((0x2000, 64)));
    }
    // Soft is stronger than final: a chain of soft references, and a finalizer at its end.
    let instances = [
        (0x1000, SOFT, [0x1100, 0]),
        (0x1100, SOFT, [0x3000, 0]),
        (0x2000, FINAL, [0x3000, 0]),
        (0x3000, PAIR, [0, 0]),
    ];
    let snapshot = referents(&[0x1000, 0x2000], &instances);
    assert_eq!(held(&snapshot, 0x3000), Some((0x1100, 32)));
    // Two soft references share their referent.
    let instances = [(0x1000, SOFT, [0x3000, 0]), (0x2000, SOFT, [0x3000, 0]), (0x3000, PAIR, [0x1000, 0])];
    let snapshot = referents(&[0x1000, 0x2000], &instances);
    assert_eq!(held(&snapshot, 0x3000), Some((0, 32)));
}

/// A file of some megabytes may give one name of a megabyte to all of its classes.
#[test]
fn classes_of_one_name_share_it() {
    let mut dump = Dump::new(8);
    let name = "x".repeat(1 << 20);
    for class in 1..1000 {
        dump.load(class * 16, &name);
        dump.class(class * 16, [0, 0], &[], &[]);
        dump.instance(0x10_0000 + class * 16, class * 16, &[]);
    }
    let snapshot = whole(&dump.end());
    let rows: Vec<_> = snapshot.rows.iter().filter(|row| row.name.starts_with('x')).collect();
    assert_eq!(rows.len(), 999);
    assert!(rows.iter().all(|row| std::sync::Arc::ptr_eq(&row.name, &rows[0].name)));
    let class = snapshot.class_objects.values().next().unwrap();
    assert!(std::sync::Arc::ptr_eq(class, &rows[0].name));
}

#[test]
fn what_is_wrong_is_named() {
    type Change = fn(&mut Dump);
    let cases: [(Change, &str); 10] = [
        (|dump| dump.instance(0x9000, 0x999, &[]), "class 0x999, which is not described"),
        (|dump| dump.instance(0x1000, 0x200, &[0, 0]), "object 0x1000 twice"),
        (|dump| dump.instance(0x200, 0x200, &[0, 0]), "object 0x200 twice"),
        (|dump| dump.instance(0x9000, 0x200, &[0]), "the fields of its class need a different number"),
        (|dump| dump.instance(0x9000, 0x200, &[0; 3]), "the fields of its class need a different number"),
        (
            |dump| {
                dump.class(0x500, [0x600, 0], &[], &[]);
                dump.class(0x600, [0x500, 0], &[], &[]);
                dump.instance(0x9000, 0x500, &[]);
            },
            "more than 1000 classes above a class",
        ),
        // 2^32 - 1 elements.
        (
            |dump| {
                dump.part(0x23, 0x9000, &[0, 0, 0, 0, 255, 255, 255, 255, 11]);
            },
            "was not written to its end",
        ),
        (
            |dump| {
                dump.part(0x23, 0x9000, &[0; 9]);
            },
            "an array of data of type 0",
        ),
        (
            |dump| {
                dump.part(0x23, 0x9000, &[0, 0, 0, 0, 0, 0, 0, 0, 2]);
            },
            "an array of data of type 2",
        ),
        (
            |dump| {
                dump.part(0x77, 0x9000, &[]);
            },
            "no part of a segment has the type 0x77",
        ),
    ];
    for (change, expected) in cases {
        let mut dump = Dump::new(8);
        list(&mut dump);
        change(&mut dump);
        let error = tell_heap(&dump.end()).unwrap_err();
        assert!(error.contains(expected), "{error}, not {expected}");
    }
    // Ids that nothing has are no references to follow.
    let mut dump = Dump::new(8);
    list(&mut dump);
    dump.instance(0x9000, 0x200, &[0x1234_5678, u64::MAX]);
    dump.part(0xFF, 0x9990, &[]).part(0xFF, 0x9000, &[]);
    assert_eq!(held(&whole(&dump.end()), 0x9000), Some((0, 32)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn no_change_of_a_dump_makes_the_reader_panic(
        id_bytes in prop::sample::select(vec![4, 8]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..3), 0..8),
    ) {
        let mut file = list_file(id_bytes);
        for (place, byte, what) in changes {
            let place = place.index(file.len());
            match what {
                0 => file[place] = byte,
                1 => file.insert(place, byte),
                _ => drop(file.remove(place)),
            }
        }
        if let Err(error) = tell_heap(&file) {
            prop_assert!(!error.is_empty());
        }
    }
}
