//! Sums against a naive model and against Go's tool; broken files are errors.

pub(super) mod writer;

use super::*;
use crate::command::tell_profile;
use allotment::Heap;
use allotment::raw::{FrameName, FrameSink, Shape, StackWalker};
use allotment_report::format::binary;
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use std::cell::Cell;
use std::io::Write;
use std::process::Command;
use std::sync::LazyLock;
use writer::Out;

/// A sample of the model: its stack, as numbers of functions, innermost first; its two values; its
/// shape.
type Sample = (Vec<u64>, [i64; 2], Option<u64>);

/// Functions of the model. Their strings follow the ten others.
const FUNCTIONS: u64 = 5;
const FIRST_FUNCTION: u64 = 10;

/// A profile of the samples. Each location has one function, but of location 9, in which function 1
/// is inlined into function 2. `packed` says how lists of numbers are written.
fn encoded(samples: &[Sample], packed: bool) -> Vec<u8> {
    let pair = |first, second| Out::default().number(1, first).number(2, second);
    let mut out = Out::default().message(1, pair(1, 2)).message(1, pair(3, 4));
    for (stack, values, shape) in samples {
        let mut sample = Out::default();
        for (field, list) in [(1, stack.clone()), (2, values.map(|value| value as u64).to_vec())] {
            if packed {
                let mut numbers = Out::default();
                list.iter().for_each(|number| numbers.varint(*number));
                sample = sample.message(field, numbers);
            } else {
                sample = list.into_iter().fold(sample, |sample, number| sample.number(field, number));
            }
        }
        // A label that is none of shapes, and perhaps one that is.
        sample = sample.message(3, Out::default().number(1, 7).number(3, 32));
        if let Some(shape) = shape {
            sample = sample.message(3, pair(6, 8 + shape));
        }
        out = out.message(2, sample);
    }
    for id in 1..=FUNCTIONS {
        out = out.message(4, Out::default().number(1, id).message(4, pair(id, 10 + id)));
        out = out.message(5, pair(id, FIRST_FUNCTION + id - 1));
    }
    let inlined = Out::default().number(1, 9).message(4, pair(1, 1)).message(4, pair(2, 1));
    out = out.message(4, inlined).number(12, 4096).message(11, pair(5, 4)).number(14, 1);
    let texts = ["", "objects", "count", "space", "bytes", "period", "type", "size", "Pair", "Str"];
    let names = (1..=FUNCTIONS).map(|id| format!("function-{id}"));
    texts.map(String::from).into_iter().chain(names).fold(out, |out, text| out.bytes(6, text.as_bytes())).0
}

fn samples() -> impl Strategy<Value = Vec<Sample>> {
    let location = prop_oneof![8 => 1..=FUNCTIONS, 1 => Just(9)];
    let values = [any::<i32>(), any::<i32>()].prop_map(|values| values.map(i64::from));
    prop::collection::vec((prop::collection::vec(location, 0..6), values, prop::option::of(0..2_u64)), 0..20)
}

proptest! {
    #[test]
    fn sums_are_those_of_a_naive_model(samples in samples(), packed: bool, wanted in 0..3_usize) {
        let bytes = encoded(&samples, packed);
        let name = [None, Some("objects"), Some("space")][wanted];
        let profile = Profile::read(&bytes[..], name).unwrap();
        // The default is what the file names, the first.
        let chosen = usize::from(wanted == 2);
        prop_assert_eq!(profile.chosen, chosen);
        let value = |sample: &Sample| i128::from(sample.1[chosen]);
        prop_assert_eq!(profile.total, samples.iter().map(value).sum::<i128>());
        for id in 1..=FUNCTIONS {
            let inlined = |location: &u64| if *location == 9 { vec![1, 2] } else { vec![*location] };
            let frames = |sample: &Sample| sample.0.iter().flat_map(inlined).collect::<Vec<u64>>();
            let flat = samples.iter().filter(|sample| frames(sample).first() == Some(&id)).map(value).sum();
            let cumulative = samples.iter().filter(|sample| frames(sample).contains(&id)).map(value).sum();
            prop_assert_eq!(
                profile.functions.get(&format!("function-{id}")).copied().unwrap_or_default(),
                Sums { flat, cumulative }
            );
        }
        for (shape, name) in (0..).zip(["Pair", "Str"]) {
            let of = samples.iter().filter(|sample| sample.2 == Some(shape));
            prop_assert_eq!(of.clone().count() > 0, profile.shapes.contains_key(name));
            prop_assert_eq!(profile.shapes.get(name).copied().unwrap_or(0), of.map(value).sum::<i128>());
        }
    }

    #[test]
    fn bytes_of_any_kind_are_told_or_refused(bytes: Vec<u8>) {
        let _ = tell_profile(&bytes);
    }

    #[test]
    fn a_damaged_profile_is_told_or_refused(
        samples in samples(), place: prop::sample::Index, to: u8, cut: prop::sample::Index, packed: bool,
    ) {
        let mut bytes = encoded(&samples, packed);
        let place = place.index(bytes.len());
        bytes[place] = to;
        let _ = tell_profile(&bytes);
        // The strings are last, so none that is cut has all of them.
        let whole = encoded(&samples, packed);
        let cut = cut.index(whole.len());
        prop_assert!(tell_profile(&whole[..cut]).is_err());
    }
}

#[test]
fn what_is_wrong_is_told() {
    let read = |out: Out| Profile::read(&out.0[..], None).unwrap_err().to_string();
    let pair = |first, second| Out::default().number(1, first).number(2, second);
    let start = || Out::default().bytes(6, b"").bytes(6, b"objects").message(1, pair(1, 1));
    let sample = |location, value| Out::default().number(1, location).number(2, value);
    let location = |id, function| Out::default().number(1, id).message(4, pair(function, 1));
    for (out, told) in [
        (Out::default(), "no sample types"),
        (Out::default().bytes(6, b"text"), "the first string is not empty"),
        (start().message(2, pair(1, 1)), "no location 1"),
        (start().message(2, Out::default()), "a sample of 0 values, for 1 sample types"),
        (start().message(4, location(1, 2)), "no function 2"),
        (start().message(4, Out::default().number(1, 1).number(2, 7)), "no mapping 7"),
        (start().message(4, Out::default()), "an id of 0"),
        (start().message(5, pair(0, 1)), "an id of 0"),
        (start().message(5, pair(1, 1)).message(5, pair(1, 1)), "whose id is another's"),
        (start().message(3, pair(1, 1)).message(3, pair(1, 1)), "whose id is another's"),
        (
            start().message(5, pair(1, 1)).message(4, location(1, 1)).message(4, location(1, 1)),
            "location whose id is another's",
        ),
        (start().message(5, pair(1, 2)), "string 2 of 2 strings"),
        (start().message(1, pair(1, u64::MAX)), "string 18446744073709551615 of 2 strings"),
        (start().number(2, 1), "field 2 is not a message"),
        ((0..100).fold(start(), |out, _| out.message(1, pair(1, 1))), "more than 100 sample types"),
        (start().message(12, sample(1, 1)), "field 12 is not a number"),
    ] {
        let error = read(out);
        assert!(error.contains(told), "{told}: {error}");
    }
    let wanted = Profile::read(&encoded(&[], true)[..], Some("space-time")).unwrap_err().to_string();
    assert_eq!(wanted, "it has no sample type `space-time`; it has objects (count), space (bytes)");
}

/// Regression: a kilobyte that unpacks to more than anybody has must not be unpacked.
#[test]
fn a_small_file_that_unpacks_to_a_large_one_is_refused() {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    // A field that is not known here, of no bytes: valid as long as it goes on.
    let piece = [0x7a_u8, 0x00].repeat(1 << 19);
    for _ in 0..=MOST_BYTES >> 20 {
        packed.write_all(&piece).unwrap();
    }
    let error = tell_profile(&packed.finish().unwrap()).unwrap_err();
    assert!(error.contains("more than 64 MiB"), "{error}");
}

#[test]
fn code_without_names_is_a_place_in_its_file() {
    let pair = |first, second| Out::default().number(1, first).number(2, second);
    let at = |id, mapping: u64, address| pair(id, mapping).number(3, address);
    let mapping = pair(1, 0x5000).number(3, 0x9000).number(4, 0x1000).number(5, 2);
    let mut out = Out::default().message(1, pair(1, 1)).message(3, mapping);
    out = out.message(4, at(1, 1, 0x5042)).message(4, at(2, 0, 0xbeef));
    // Lines of no function, and of a function without a name.
    out = out.message(4, at(3, 1, 0x5043).message(4, pair(0, 12)));
    out = out.message(4, at(4, 0, 0xcafe).message(4, pair(1, 12))).message(5, pair(1, 0));
    out = (1..=4).fold(out, |out, id| out.message(2, pair(id, 7)));
    // The label `type` of shapes without a text.
    out = out.message(2, pair(1, 7).message(3, pair(3, 0)));
    let out = out.bytes(6, b"").bytes(6, b"objects").bytes(6, b"/usr/bin/lisp").bytes(6, b"type");
    let profile = Profile::read(&out.0[..], None).unwrap();
    let names: Vec<&String> = profile.functions.keys().collect();
    assert_eq!(names, ["0xbeef", "0xcafe", "lisp+0x1042", "lisp+0x1043"]);
    assert!(profile.shapes.is_empty(), "{:?}", profile.shapes);
}

/// Regression: each use of a string was a copy, so a file of some MiB took TiB.
#[test]
fn a_string_that_is_used_often_takes_no_more_memory() {
    const USES: u64 = 10_000;
    let pair = |first, second| Out::default().number(1, first).number(2, second);
    let long = "x".repeat(1 << 20);
    let texts = Out::default().bytes(6, b"").bytes(6, long.as_bytes()).0;
    let comments = Out::default().bytes(13, &[1].repeat(USES as usize));
    let types = (1..100).fold(Out::default(), |out, _| out.message(1, pair(1, 1)));
    let functions = (1..=USES).fold(Out::default(), |out, id| out.message(5, pair(id, 1)));
    let places = (1..=USES).fold(Out::default().message(3, pair(1, 0).number(5, 1)), |out, id| {
        out.message(4, pair(id, 1).number(3, id))
    });
    let kept = |text: &str| text.len() as u64;
    for out in [comments, types, functions, places] {
        let file = [Out::default().message(1, pair(1, 1)).0, out.0, texts.clone()].concat();
        let profile = Profile::read(&file[..], None).unwrap();
        let types = profile.sample_types.iter().map(|one| kept(&one.name) + kept(&one.unit));
        let comments = profile.comments.iter().map(|text| kept(text));
        let functions = profile.functions.keys().map(|text| kept(text));
        let all: u64 = types.chain(comments).chain(functions).sum();
        assert!(all < 2 << 20, "{all} bytes of text");
    }
}

/// Regression: one location of many frames in one stack of many locations was added up for days.
#[test]
fn stacks_of_too_many_frames_are_refused() {
    let pair = |first, second| Out::default().number(1, first).number(2, second);
    let location = (0..256).fold(Out::default().number(1, 1), |out, _| out.message(4, pair(0, 1)));
    let start = Out::default().bytes(6, b"").message(1, pair(0, 0)).message(4, location).0;
    // 256 stacks of 256 frames each, and one location more.
    for (stacks, refused) in [(MOST_FRAMES / 256, false), (MOST_FRAMES / 256 + 1, true)] {
        for samples in [1, stacks] {
            let mut out = Out(start.clone());
            for _ in 0..samples {
                out = out.message(
                    2,
                    Out::default().bytes(1, &[1].repeat((stacks / samples) as usize)).number(2, 7),
                );
            }
            let read = Profile::read(&out.0[..], None).map(|_| ()).map_err(|error| error.to_string());
            assert_eq!(read.is_err(), refused, "{read:?}");
            assert!(read.is_ok() || read.unwrap_err().starts_with("its stacks have more than 65536 frames"));
        }
    }
}

#[test]
fn a_period_is_signed() {
    let pair = |first, second| Out::default().number(1, first).number(2, second);
    let out = Out::default().bytes(6, b"").message(1, pair(0, 0)).number(12, -3_i64 as u64);
    assert_eq!(Profile::read(&out.0[..], None).unwrap().period, -3);
}

thread_local! {
    /// The function that the interpreter is in.
    static FUNCTION: Cell<u64> = const { Cell::new(0) };
}

/// An interpreter whose functions are called by its main loop, one of them by itself.
struct Interpreter;

impl StackWalker for Interpreter {
    fn walk(&self, frames: &mut FrameSink<'_>) {
        let function = FUNCTION.get();
        let _ = (0..=function).all(|_| frames.push(function)) && frames.push(1000);
    }

    fn name(&self, frame: u64) -> FrameName {
        FrameName { function: format!("function-{frame}"), file: "program".into(), line: 1 }
    }
}

/// A profile of our own.
static OURS: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let builder = Heap::builder().max_heap_size(16 << 20).stack_walker(Interpreter);
    let heap = builder.clock(|| std::time::Duration::from_millis(5)).build().unwrap();
    heap.set_allocation_sample_interval(4 << 10);
    let shapes = [40, 3000].map(|bytes| heap.register(Shape::fixed(format!("Of{bytes}"), bytes)).unwrap());
    heap.attach(|mutator| {
        for turn in 0..3000 {
            FUNCTION.set(turn % 3);
            // SAFETY: the shape is the heap's and has no slots, and nothing uses the object.
            unsafe { mutator.raw_mut().alloc_raw(shapes[usize::from(turn % 10 == 0)], 0) }.unwrap();
        }
    })
    .unwrap();
    let mut file = Vec::new();
    heap.allocation_profile().write(&mut file).unwrap();
    file
});

/// At an interval of 1 each object is sampled, so all sums are exact.
#[test]
fn a_difference_has_what_came_since_and_less_where_more_died() {
    let builder = Heap::builder().max_heap_size(16 << 20).stack_walker(Interpreter);
    let heap = builder.build().unwrap();
    heap.set_allocation_sample_interval(1);
    let shapes = ["Old", "New"].map(|name| heap.register(Shape::fixed(name, 40)).unwrap());
    let (before, after) = heap
        .attach(|mutator| {
            let keep = |mutator: &mut allotment::Mutator<'_>, shape: usize, objects: usize| {
                FUNCTION.set(shape as u64);
                let root = |_| {
                    // SAFETY: the shape is the heap's and has no slots; the object is in a root at once.
                    unsafe {
                        let object = mutator.raw_mut().alloc_raw(shapes[shape], 0).unwrap();
                        mutator.raw().new_root(object.as_ptr() as u64)
                    }
                };
                (0..objects).map(root).collect::<Vec<_>>()
            };
            let (old, more) = (keep(mutator, 0, 500), keep(mutator, 0, 50));
            mutator.safepoint();
            let before = heap.allocation_profile();
            drop(old);
            let new = keep(mutator, 1, 300);
            mutator.collect();
            let after = heap.allocation_profile();
            drop((more, new));
            (before, after)
        })
        .unwrap();
    let mut file = Vec::new();
    after.write_since(&before, &mut file).unwrap();
    let read = |wanted: Option<&str>| {
        Profile::read(binary("a profile", std::io::Cursor::new(file.clone())).unwrap(), wanted).unwrap()
    };
    assert_eq!(read(None).sample_type().name, "alloc_space");
    for (sample_type, old, new) in [
        ("alloc_objects", None, 300),
        ("alloc_space", None, 300 * 40),
        ("inuse_objects", Some(-500), 300),
        ("inuse_space", Some(-500 * 40), 300 * 40),
    ] {
        let profile = read(Some(sample_type));
        let shapes: Vec<_> = profile.shapes.iter().filter(|(_, sum)| **sum != 0).collect();
        let expected = [("New".to_owned(), new)].into_iter().chain(old.map(|old| ("Old".to_owned(), old)));
        assert_eq!(
            shapes,
            expected.collect::<Vec<_>>().iter().map(|(name, sum)| (name, sum)).collect::<Vec<_>>()
        );
    }
    let nothing = |profile: &allotment::stats::AllocationProfile| {
        let mut file = Vec::new();
        profile.write_since(profile, &mut file).unwrap();
        Profile::read(binary("a profile", std::io::Cursor::new(file)).unwrap(), None).unwrap()
    };
    assert!(nothing(&after).functions.is_empty(), "nothing came since");
}

/// The table of `go tool pprof -top`: flat and cumulative of each function.
fn go(file: &[u8], sample_type: &str) -> BTreeMap<String, Sums> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("profile.pb.gz");
    std::fs::write(&path, file).unwrap();
    let index = format!("-sample_index={sample_type}");
    let wanted = ["tool", "pprof", "-top", "-nodefraction=0", "-nodecount=100000", "-unit=B", &index];
    let output = Command::new("go").args(wanted).arg(&path).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let text = String::from_utf8(output.stdout).unwrap();
    let rows = text.lines().skip_while(|line| !line.trim_start().starts_with("flat ")).skip(1);
    rows.map(|row| {
        let columns: Vec<&str> = row.split_whitespace().collect();
        let number = |column: usize| columns[column].trim_end_matches('B').parse().expect(row);
        let name = columns[5..].join(" ").trim_end_matches(" (inline)").to_string();
        (name, Sums { flat: number(0), cumulative: number(3) })
    })
    .collect()
}

/// A heap profile that a Go program wrote.
const GOS: &[u8] = include_bytes!("../../../../fuzz/seeds/profiles/go.pb.gz");

/// A profile whose stacks have dropped frames everywhere, with its sums as `go tool pprof` has them.
fn with_dropped_frames() -> (Vec<u8>, BTreeMap<String, Sums>) {
    let pair = |first, second| Out::default().number(1, first).number(2, second);
    let names = ["main", "work", "alloc_slow(int)", "alloc_keep", "inner"];
    let mut out = Out::default().message(1, pair(1, 2)).number(7, 3).number(8, 4);
    let mut location = |id: u64, functions: &[u64]| {
        let lines =
            functions.iter().fold(Out::default().number(1, id), |out, id| out.message(4, pair(*id, 1)));
        out = std::mem::take(&mut out).message(4, lines);
    };
    (1..=5).for_each(|id| location(id, &[id]));
    // Inlined: into `work`, and into the dropped function.
    location(7, &[5, 3, 2]);
    location(8, &[5, 3]);
    let stacks: [&[u64]; 8] = [
        &[5, 3, 2, 1],
        &[5, 4, 2, 1],
        &[5, 7, 1],
        &[8, 2, 1],
        // Before the first frame of the program nothing is dropped.
        &[5, 3],
        &[3],
        &[5, 3, 2, 3, 1],
        &[5, 7],
    ];
    for (index, stack) in stacks.into_iter().enumerate() {
        let sample = stack.iter().fold(Out::default(), |out, id| out.number(1, *id));
        out = out.message(2, sample.number(2, 1 << index));
    }
    for (id, _) in (1..).zip(names) {
        out = out.message(5, pair(id, 4 + id));
    }
    let texts = ["", "space", "bytes", "alloc.*", "alloc_keep"].into_iter().chain(names);
    let file = texts.fold(out, |out, text| out.bytes(6, text.as_bytes())).0;
    let sums = [
        ("main", 64, 79),
        ("work", 1 + 4 + 8, 1 + 2 + 4 + 8 + 128),
        ("alloc_slow(int)", 32, 16 + 32),
        ("alloc_keep", 0, 2),
        ("inner", 2 + 16 + 128, 2 + 16 + 128),
    ];
    (file, sums.map(|(name, flat, cumulative)| (name.to_string(), Sums { flat, cumulative })).into())
}

/// Regression: frames that a profile asks to drop were shown, so what an allocator does inside did
/// not count for its caller.
#[test]
fn frames_that_a_profile_asks_to_drop_are_left_out_of_all_sums() {
    let (file, expected) = with_dropped_frames();
    let profile = Profile::read(&file[..], None).unwrap();
    assert_eq!(profile.functions, expected);
    assert_eq!(profile.total, 255);
    // The profile of a report: all of it is in `work`.
    let file = binary("a profile", std::io::Cursor::new(DROP_FRAMES.to_vec())).unwrap();
    let mut functions = Profile::read(file, None).unwrap().functions;
    functions.retain(|_, sums| *sums != Sums::default());
    assert_eq!(functions, BTreeMap::from([("work".to_string(), Sums { flat: 6, cumulative: 6 })]));
}

/// Each byte of a profile with inlined and dropped frames is damaged in some ways.
#[test]
fn a_profile_with_dropped_frames_and_a_damaged_byte_is_told_or_refused() {
    let (file, _) = with_dropped_frames();
    for place in 0..file.len() {
        for to in [0, 1, 0x28, 0x7f, 0x80, 0xff] {
            let mut damaged = file.clone();
            damaged[place] = to;
            let _ = tell_profile(&damaged);
        }
    }
}

#[test]
fn an_expression_that_is_none_drops_nothing_and_says_so() {
    let pair = |first, second| Out::default().number(1, first).number(2, second);
    // Of several KiB, as Go writes for the allocators that it knows.
    let long = (0..300).map(|number| format!("tcmalloc::function{number}::.*|")).collect::<String>() + "m.*";
    let longest = "m".repeat(1 << 17);
    for (expression, notes) in
        [("(", 1), ("a{1000}{1000}", 1), (&longest, 1), ("", 0), ("m.*", 0), (&long, 0)]
    {
        let mut out = Out::default().message(1, pair(0, 0)).number(7, 1).message(5, pair(1, 2));
        out = out.message(4, Out::default().number(1, 1).message(4, pair(1, 1))).message(2, pair(1, 7));
        let file = ["", expression, "malloc"].iter().fold(out, |out, text| out.bytes(6, text.as_bytes())).0;
        let profile = Profile::read(&file[..], None).unwrap();
        assert_eq!(profile.comments.len(), notes, "{expression}: {:?}", profile.comments);
        assert_eq!(profile.functions["malloc"].flat, 7);
        // Before a frame of the program nothing is dropped; called by one it is.
        assert_eq!(dropped(expression), expression.ends_with("m.*"), "{notes} {}", expression.len());
    }
}

/// Whether `malloc`, called by `work`, is dropped by an expression.
fn dropped(expression: &str) -> bool {
    let pair = |first, second| Out::default().number(1, first).number(2, second);
    let mut out = Out::default().message(1, pair(0, 0)).number(7, 1);
    for id in 1..=2 {
        out =
            out.message(5, pair(id, 1 + id)).message(4, Out::default().number(1, id).message(4, pair(id, 1)));
    }
    let out = out.message(2, Out::default().bytes(1, &[1, 2]).number(2, 7));
    let texts = ["", expression, "malloc", "work"];
    let file = texts.iter().fold(out, |out, text| out.bytes(6, text.as_bytes())).0;
    Profile::read(&file[..], None).unwrap().functions["work"].flat == 7
}

/// A difference of two profiles: `grown` by 1, `shrunk` by 4. `base` says whether its samples tell
/// which profile they are of.
fn difference(base: bool) -> Vec<u8> {
    let pair = |first, second| Out::default().number(1, first).number(2, second);
    let mut out = Out::default().message(1, pair(1, 2));
    for (id, value) in [(1, 2_i64), (1, -1), (2, -4)] {
        let mut sample = pair(id, value as u64);
        if base && value < 0 {
            sample = sample.message(3, pair(5, 6));
        }
        out = out.message(2, sample);
    }
    for id in 1..=2 {
        out =
            out.message(4, Out::default().number(1, id).message(4, pair(id, 1))).message(5, pair(id, 2 + id));
    }
    let texts = ["", "space", "bytes", "grown", "shrunk", "pprof::base", "true"];
    texts.into_iter().fold(out, |out, text| out.bytes(6, text.as_bytes())).0
}

/// Regression: the percentages of a difference were of its sum, which may be negative or nothing.
#[test]
fn percentages_of_a_difference_have_the_signs_of_their_values() {
    for (base, head, grown, shrunk) in [
        (true, "percentages are of the earlier profile's 5", 20.0, -80.0),
        (false, "percentages are of 7, the sum without signs", 14.3, -57.1),
    ] {
        let told = tell_profile(&difference(base)).unwrap();
        assert!(told.starts_with(&format!("space: -3 bytes\n{head}\n")), "{told}");
        let row = |name: &str| {
            let line = told.lines().find(|line| line.ends_with(name)).unwrap_or_default();
            line.split_whitespace().map(String::from).collect::<Vec<_>>()
        };
        let cells = |value: i32, share: f64, name: &str| {
            let (value, share) = (value.to_string(), format!("{share:.1}"));
            [value.clone(), share.clone(), value, share, name.to_owned()]
        };
        assert_eq!(row("shrunk"), cells(-4, shrunk, "shrunk"), "{told}");
        assert_eq!(row("grown"), cells(1, grown, "grown"), "{told}");
    }
    let error = Tree::read(&difference(true)[..], None, 0.0).unwrap_err().to_string();
    assert!(error.contains("negative values"), "{error}");
}

/// The paths of a tree with their values of the second sample type, by name.
fn paths(tree: &Tree) -> BTreeMap<String, i128> {
    let mut names: Vec<String> = Vec::new();
    for (index, node) in tree.nodes.iter().enumerate() {
        let own = &tree.names[node.name as usize];
        let own = if node.is_shape { format!("[{own}]") } else { own.clone() };
        let name = if index == 0 { own } else { format!("{}/{own}", names[node.parent as usize]) };
        names.push(name);
    }
    names.into_iter().zip(&tree.nodes).map(|(name, node)| (name, node.values[1])).collect()
}

proptest! {
    #[test]
    fn a_tree_has_the_sums_of_a_naive_model(samples in samples(), packed: bool) {
        let mut samples = samples;
        samples.iter_mut().flat_map(|sample| &mut sample.1).for_each(|value| *value = value.abs());
        let mut model: BTreeMap<String, i128> = BTreeMap::from([(String::new(), 0)]);
        for (stack, values, shape) in &samples {
            let inlined = |location: &u64| if *location == 9 { vec![2, 1] } else { vec![*location] };
            let frames = stack.iter().rev().flat_map(inlined).map(|id| format!("/function-{id}"));
            let shape = shape.map(|shape| format!("/[{}]", ["Pair", "Str"][shape as usize]));
            let mut path = String::new();
            *model.get_mut("").unwrap() += i128::from(values[1]);
            for part in frames.chain(shape) {
                path += &part;
                *model.entry(path.clone()).or_default() += i128::from(values[1]);
            }
        }
        let tree = Tree::read(&encoded(&samples, packed)[..], None, 0.0).unwrap();
        prop_assert_eq!(tree.chosen, 0);
        let mut found = paths(&tree);
        // What has no value is not drawn, so it need not be there.
        found.retain(|path, value| *value != 0 || path.is_empty());
        model.retain(|path, value| *value != 0 || path.is_empty());
        prop_assert_eq!(found, model);
    }
}

#[test]
fn frames_too_small_to_be_seen_are_left_out_of_a_tree_with_all_they_call() {
    let samples: [Sample; 3] =
        [(vec![2, 1], [1000, 1000], None), (vec![4, 3, 1], [1, 1], Some(0)), (vec![5], [0, 0], None)];
    let tree = Tree::read(&encoded(&samples, true)[..], None, 0.01).unwrap();
    let expected = [("", 1001), ("/function-1", 1001), ("/function-1/function-2", 1000)];
    assert_eq!(paths(&tree), expected.map(|(path, value)| (path.to_string(), value)).into());
    assert_eq!(tree.left_out, 4);
}

#[test]
fn a_tree_of_too_many_nodes_is_refused() {
    let deep = |turn: u64| (0..16).map(|bit| 1 + (turn >> bit & 1)).collect::<Vec<u64>>();
    let samples: Vec<Sample> = (0..4096).map(|turn| (deep(turn), [1, 1], None)).collect();
    let error = Tree::read(&encoded(&samples, true)[..], None, 0.0).unwrap_err().to_string();
    assert!(error.contains("frames in all") || error.contains("too many"), "{error}");
}

/// A profile of which all is in `work`, which calls a dropped function.
const DROP_FRAMES: &[u8] = include_bytes!("../../../../fuzz/seeds/profiles/drop-frames.pb.gz");

#[test]
fn the_sums_are_those_of_go_tool_pprof() {
    if Command::new("go").args(["tool", "pprof", "-h"]).output().is_err() {
        eprintln!("left out: there is no `go` on this machine, and so no `go tool pprof`");
        return;
    }
    for (whose, file) in [("ours", &OURS[..]), ("Go's", GOS)] {
        for sample_type in ["alloc_objects", "alloc_space", "inuse_objects", "inuse_space"] {
            let unpacked = binary("a profile", std::io::Cursor::new(file.to_vec())).unwrap();
            let profile = Profile::read(unpacked, Some(sample_type)).unwrap();
            let mut own = profile.functions;
            // Go's table has no rows of nothing.
            own.retain(|_, sums| *sums != Sums::default());
            let mut gos = go(file, sample_type);
            gos.retain(|_, sums| *sums != Sums::default());
            assert!(!own.is_empty() && own == gos, "{whose}, {sample_type}: {own:#?}\n{gos:#?}");
        }
    }
    let (file, expected) = with_dropped_frames();
    assert_eq!(go(&file, "space"), expected);
    assert!(tell_profile(&OURS).unwrap().contains("Of3000"));
}
