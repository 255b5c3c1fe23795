//! NetBeans' reader, which is VisualVM's, gridkit's and Shark open our HPROF.

use super::super::{heap, hprof, model};
use super::names::{names, texts, with_names};
use super::{installed, run};
use crate::object::{Element, Shape, SlotKind};
use crate::observe::{SnapshotFormat, SnapshotSettings, SnapshotSummary};
use hprof::Dump;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, TestRunner};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// A reader, and its reckoning of sizes.
struct Reader {
    program: &'static str,
    /// The beginning of its jars' names.
    jars: &'static [&'static str],
    /// Bytes of an object beside those that its class states.
    object_bytes: usize,
    /// Bytes of an array beside its elements.
    array_bytes: usize,
    /// Whether it has all roots. Otherwise it keeps one of those that refer to the same object.
    has_all_roots: bool,
    /// Names of roots by their tags: 1, 2, 4 and 0xFF.
    roots: [&'static str; 4],
}

const PROFILER_ROOTS: [&str; 4] = ["JNI global", "JNI local", "native stack", "unknown"];

const NETBEANS: Reader = Reader {
    program: "Profiler",
    jars: &["org-netbeans-lib-profiler"],
    object_bytes: 0,
    array_bytes: 24,
    has_all_roots: true,
    roots: PROFILER_ROOTS,
};

const GRIDKIT: Reader = Reader {
    program: "Profiler",
    jars: &["hprof-heap"],
    object_bytes: 16,
    array_bytes: 24,
    has_all_roots: false,
    roots: PROFILER_ROOTS,
};

const SHARK: Reader = Reader {
    program: "Shark",
    jars: &["shark", "okio", "kotlin"],
    object_bytes: 0,
    array_bytes: 0,
    has_all_roots: true,
    roots: ["JniGlobal", "JniLocal", "NativeStack", "Unknown"],
};

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
}

/// The lines that a reader's program prints, sorted: objects with id, class, class above, own
/// bytes, and fields or elements; and roots. What NetBeans retains is not compared: in some graphs
/// it is more.
fn expected(dump: &Dump, reader: &Reader) -> Vec<String> {
    // Readers show packages as Java writes them.
    let shown = |name: &str| escaped(name).replace('/', ".");
    let mut objects: BTreeMap<u64, (String, usize, Vec<String>)> = BTreeMap::new();
    for (id, object) in &dump.instances {
        let field = |(name, is_reference, value): &(String, bool, u64)| {
            format!("{}{}{value:x}", escaped(name), if *is_reference { '@' } else { '=' })
        };
        let fields = object.fields.iter().map(field).collect();
        objects.insert(*id, (shown(&object.class), object.bytes + reader.object_bytes, fields));
    }
    for (id, elements) in &dump.arrays {
        let values = elements.iter().map(|element| format!("{element:x}")).collect();
        objects.insert(*id, ("java.lang.Object[]".into(), reader.array_bytes + 8 * elements.len(), values));
    }
    for (id, (kind, data)) in &dump.data {
        let name = if *kind == 8 { "byte[]" } else { "long[]" };
        let value =
            |element: &[u8]| if element.len() == 1 { (element[0] as i8).to_string() } else { "0".into() };
        let values = data.chunks(hprof::element_bytes(*kind)).map(value).collect();
        objects.insert(*id, (name.into(), reader.array_bytes + data.len(), values));
    }
    let line = |(id, (class, bytes, values)): (u64, (String, usize, Vec<String>))| {
        let head = format!("{id:x}\t{class}\tjava.lang.Object\t{bytes}");
        [vec![head], values].concat().join("\t")
    };
    let mut lines: Vec<String> = objects.into_iter().map(line).collect();
    for (tag, id) in dump.roots.iter().filter(|_| reader.has_all_roots) {
        let place = [1, 2, 4, 0xFF].iter().position(|known| known == tag).unwrap();
        lines.push(format!("root\t{}\t{id:x}", reader.roots[place]));
    }
    lines.sort();
    lines
}

/// Writes dumps of graphs of all kinds to a directory in turn, and calls `check` with each file and
/// what the strict reader has of it. Each has its own name, since NetBeans' reader keeps tables of
/// a file beside it.
fn for_each_dump(directory: &Path, mut check: impl FnMut(&Path, &Dump)) {
    let files = [1, 2, 3, 4].map(|number| directory.join(format!("{number}.hprof")));
    let mut check = |file: &Path, summary: SnapshotSummary| {
        let dump = hprof::read(&std::fs::read(file).unwrap());
        assert_eq!(dump.instances.len() as u64, summary.objects);
        check(file, &dump);
    };
    let settings = SnapshotSettings::default().format(SnapshotFormat::Hprof);
    let mut runner = TestRunner::new(Config::default());
    for (collector, file) in ["Collector=parallel", "Collector=shenandoah"].into_iter().zip(&files) {
        let model = model::model(300).new_tree(&mut runner).unwrap().current();
        let heap = heap(4096, 512, collector);
        let summary = model::with_model(&heap, &model, |mutator| mutator.snapshot_to_file(file, &settings));
        check(file, summary.unwrap());
    }
    let settings = settings.string_bytes(usize::MAX);
    let [_, _, names, many] = &files;
    check(names, with_names(|mutator| mutator.snapshot_to_file(names, &settings)).unwrap());
    check(many, with_many_slots(|mutator| mutator.snapshot_to_file(many, &settings)).unwrap());
}

/// Slots of an object that a class could not have as fields.
const MANY: usize = 40_000;

/// Calls `look` while an object is live that refers to itself [`MANY`] times, and once from its
/// tail.
fn with_many_slots<R>(look: impl FnOnce(&mut crate::Mutator<'_>) -> R) -> R {
    let heap = heap(1 << 18, 16, "Collector=parallel");
    let mut shape = Shape::array("Many", 16 + 8 * MANY, Element::Reference(SlotKind::Strong));
    for number in 0..MANY {
        shape = shape.slot("one", 16 + 8 * number, SlotKind::Strong);
    }
    let shape = heap.register(shape).unwrap();
    heap.attach(|mutator| {
        // SAFETY: the shape is the heap's, and all words after the length are slots.
        let root = unsafe {
            let object = mutator.raw_mut().alloc_raw(shape, 1).expect("room");
            for word in 2..MANY + 3 {
                mutator.raw().store(object.as_ptr().byte_add(8 * word).cast(), object.as_ptr() as u64);
            }
            mutator.raw().new_root(object.as_ptr() as u64)
        };
        let outcome = look(mutator);
        drop(root);
        outcome
    })
    .unwrap()
}

#[test]
fn a_shape_with_more_slots_than_a_class_has_fields_keeps_its_references() {
    let mut file = Vec::new();
    let settings = SnapshotSettings::default().format(SnapshotFormat::Hprof);
    with_many_slots(|mutator| mutator.snapshot(&mut file, &settings)).unwrap();
    let dump = hprof::read(&file);
    let (id, array) = (dump.instances.first_key_value().unwrap().0, dump.arrays.first_key_value().unwrap().1);
    assert_eq!(array, &vec![*id; MANY + 1]);
}

#[test]
fn names_are_in_the_file_unless_a_reader_takes_them_for_those_of_java() {
    let mut file = Vec::new();
    let settings = SnapshotSettings::default().format(SnapshotFormat::Hprof).string_bytes(usize::MAX);
    with_names(|mutator| mutator.snapshot(&mut file, &settings)).unwrap();
    let dump = hprof::read(&file);
    let is_text = |class: &str| class == "Text";
    let found: Vec<&str> =
        dump.instances.values().map(|object| object.class.as_str()).filter(|class| !is_text(class)).collect();
    let expected: Vec<String> = names()
        .into_iter()
        .map(|name| {
            let is_javas =
                name.starts_with("java") || name.starts_with('[') || name == "byte[]" || name == "int[]";
            if is_javas { format!("shape {name}") } else { name }
        })
        .collect();
    assert_eq!(found, expected);
    assert!(dump.data.values().map(|(_, data)| data).eq(&texts()));
}

fn opens_what_we_write(reader: &Reader) {
    let Some(readers) = installed("javac", &["jars"]) else { return };
    let jars = std::fs::read_dir(readers.join("jars")).unwrap().map(|entry| entry.unwrap().path());
    let is_its = |jar: &std::path::PathBuf| {
        let name = jar.file_name().unwrap().to_string_lossy();
        reader.jars.iter().any(|start| name.starts_with(start))
    };
    let jars: Vec<String> = jars.filter(is_its).map(|jar| jar.display().to_string()).collect();
    assert!(jars.len() >= reader.jars.len(), "of {:?}, {} has {jars:?}", reader.jars, readers.display());
    let directory = tempfile::tempdir().unwrap();
    let source = match reader.program {
        "Shark" => include_str!("Shark.java"),
        _ => include_str!("Profiler.java"),
    };
    let source_file = directory.path().join(format!("{}.java", reader.program));
    std::fs::write(&source_file, source).unwrap();
    let classes = [vec![directory.path().display().to_string()], jars].concat().join(":");
    run(Command::new("javac").args(["-nowarn", "-proc:none", "-cp", &classes]).arg(&source_file));
    let output = directory.path().join("objects");
    for_each_dump(directory.path(), |file, dump| {
        let mut java = Command::new("java");
        java.args(["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", &classes]);
        java.arg(reader.program).args([file, &output]);
        run(&mut java);
        let found = std::fs::read_to_string(&output).unwrap();
        // Not `lines`, which a carriage return would end, too.
        let mut found: Vec<&str> = found.split_terminator('\n').collect();
        found.retain(|line| reader.has_all_roots || !line.starts_with("root\t"));
        found.sort_unstable();
        let expected = expected(dump, reader);
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected);
        }
        assert_eq!(found.len(), expected.len());
    });
}

#[test]
fn netbeans_opens_dumps() {
    opens_what_we_write(&NETBEANS);
}

#[test]
fn gridkit_opens_dumps() {
    opens_what_we_write(&GRIDKIT);
}

#[test]
fn shark_opens_dumps() {
    opens_what_we_write(&SHARK);
}
