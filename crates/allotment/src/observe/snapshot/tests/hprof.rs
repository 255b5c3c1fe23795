//! A strict reader of HPROF: whatever a reader could trip over is an error here.

use std::collections::{BTreeMap, HashMap, HashSet};

/// The contents of a file. Ids are those of the file.
#[derive(Debug, Default)]
pub(super) struct Dump {
    pub(super) instances: BTreeMap<u64, Instance>,
    /// Arrays of objects.
    pub(super) arrays: BTreeMap<u64, Vec<u64>>,
    /// Arrays of other things: type and data.
    pub(super) data: BTreeMap<u64, (u8, Vec<u8>)>,
    /// Tags and objects.
    pub(super) roots: Vec<(u8, u64)>,
}

/// An object of a class.
#[derive(Debug)]
pub(super) struct Instance {
    pub(super) class: String,
    /// Bytes of an object, as the class states them.
    pub(super) bytes: usize,
    /// Name, whether it is a reference, and value.
    pub(super) fields: Vec<(String, bool, u64)>,
}

/// Bytes of an element of this type.
pub(super) fn element_bytes(kind: u8) -> usize {
    [1, 2, 4, 8][usize::from(kind - 8)]
}

/// The rest of a file.
struct Input<'f>(&'f [u8]);

impl<'f> Input<'f> {
    fn take(&mut self, bytes: usize) -> &'f [u8] {
        let (taken, rest) = self.0.split_at_checked(bytes).expect("the file is cut");
        self.0 = rest;
        taken
    }

    fn number(&mut self, bytes: usize) -> u64 {
        self.take(bytes).iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    fn u1(&mut self) -> u8 {
        self.number(1) as u8
    }

    fn u4(&mut self) -> usize {
        self.number(4) as usize
    }

    fn id(&mut self) -> u64 {
        self.number(8)
    }
}

/// Names, fields (name, type), sizes and classes above, by id of the class.
#[derive(Default)]
struct Classes {
    names: HashMap<u64, String>,
    fields: HashMap<u64, Vec<(String, u8)>>,
    bytes: HashMap<u64, usize>,
    above: HashMap<u64, u64>,
}

/// Reads a file.
pub(super) fn read(file: &[u8]) -> Dump {
    let mut input = Input(file);
    assert_eq!(input.take(19), b"JAVA PROFILE 1.0.2\0");
    assert_eq!(input.u4(), 8);
    assert!(input.id() > 1_500_000_000_000);
    let (mut dump, mut classes, mut strings) = (Dump::default(), Classes::default(), HashMap::new());
    let (mut before, mut serials, mut has_trace) = (0x01, HashSet::new(), false);
    while !input.0.is_empty() {
        let (tag, _, length) = (input.u1(), input.u4(), input.u4());
        // Readers walk over the segments as if they were one record, and look for names before
        // them.
        let order = [0x01, 0x02, 0x05, 0x1C, 0x2C];
        let place = |tag| order.iter().position(|known| *known == tag);
        assert!(place(before) <= place(tag), "{tag:#x} after {before:#x}");
        assert!(before != 0x2C, "a record after the end");
        before = tag;
        let mut body = Input(input.take(length));
        match tag {
            0x01 => {
                let id = body.id();
                let name = String::from_utf8(body.take(length - 8).to_owned()).unwrap();
                assert!(strings.insert(id, name).is_none(), "a string twice");
            }
            0x02 => {
                assert!(serials.insert(body.u4()), "a serial number twice");
                let id = body.id();
                assert_eq!(body.u4(), 1);
                let name = strings[&body.id()].clone();
                assert!(classes.names.insert(id, name).is_none(), "a class twice");
            }
            0x05 => has_trace |= [body.u4(), body.u4(), body.u4()] == [1, 0, 0],
            0x1C => {
                assert!(length < 1 << 31 && has_trace);
                while !body.0.is_empty() {
                    sub_record(&mut body, &mut dump, &mut classes, &strings);
                }
            }
            0x2C => assert_eq!(length, 0),
            other => panic!("no record has the tag {other:#x}"),
        }
        assert!(body.0.is_empty(), "a record is longer than it says");
    }
    assert_eq!(before, 0x2C, "no end");
    assert_eq!(classes.names.keys().collect::<HashSet<_>>(), classes.fields.keys().collect::<HashSet<_>>());
    dump
}

fn sub_record(body: &mut Input<'_>, dump: &mut Dump, classes: &mut Classes, strings: &HashMap<u64, String>) {
    let tag = body.u1();
    let id = body.id();
    match tag {
        0x01 => {
            body.id();
            dump.roots.push((tag, id));
        }
        0x02 => {
            body.take(8);
            dump.roots.push((tag, id));
        }
        0x04 => {
            body.take(4);
            dump.roots.push((tag, id));
        }
        0xFF => dump.roots.push((tag, id)),
        0x20 => {
            assert_eq!(body.u4(), 1);
            let above = body.id();
            assert!(above == 0 || classes.fields.contains_key(&above));
            body.take(5 * 8);
            let (bytes, constants, statics) = (body.u4(), body.number(2), body.number(2));
            assert_eq!((constants, statics), (0, 0));
            // Readers take both as signed.
            assert!(bytes < 1 << 31);
            assert!(classes.bytes.insert(id, bytes).is_none());
            let count = body.number(2) as usize;
            assert!(count < 1 << 15);
            let field = |body: &mut Input<'_>| (strings[&body.id()].clone(), body.u1());
            let fields: Vec<_> = (0..count).map(|_| field(body)).collect();
            assert!(fields.iter().all(|(_, kind)| [2, 11].contains(kind)));
            assert!(classes.fields.insert(id, fields).is_none());
            classes.above.insert(id, above);
        }
        0x21 => {
            assert_eq!(body.u4(), 1);
            let class = body.id();
            let bytes = body.u4();
            let fields = &classes.fields[&class];
            assert_eq!(bytes, fields.len() * 8);
            assert!(classes.fields[&classes.above[&class]].is_empty());
            let values = fields.iter().map(|(name, kind)| (name.clone(), *kind, body.id()));
            let values: Vec<_> = values.collect();
            assert!(values.iter().all(|(_, kind, value)| *kind == 2 || *value == 0));
            let fields = values.into_iter().map(|(name, kind, value)| (name, kind == 2, value)).collect();
            let instance =
                Instance { class: classes.names[&class].clone(), bytes: classes.bytes[&class], fields };
            assert!(dump.instances.insert(id, instance).is_none(), "an object twice");
        }
        0x22 => {
            assert_eq!(body.u4(), 1);
            let length = body.u4();
            assert_eq!(classes.names[&body.id()], "[Ljava/lang/Object;");
            assert!(dump.arrays.insert(id, (0..length).map(|_| body.id()).collect()).is_none());
        }
        0x23 => {
            assert_eq!(body.u4(), 1);
            let (length, kind) = (body.u4(), body.u1());
            let data = body.take(length * element_bytes(kind)).to_vec();
            assert!(dump.data.insert(id, (kind, data)).is_none());
        }
        other => panic!("no part of a segment has the tag {other:#x}"),
    }
}
