//! A naive model of a heap: a list of objects, each with a pattern that nothing else writes.

use super::kit::{By, Kind, Kit, What};
use crate::Heap;
use crate::object::{HEADER_BYTES, Header, LENGTH_OFFSET, ShapeId, WORD};
use crate::region::State;
use std::collections::BTreeMap;
use std::ptr::NonNull;

/// An object that must be found unchanged.
#[derive(Clone, Copy, Debug)]
struct Live {
    address: usize,
    bytes: usize,
    kind: Kind,
    /// First word of its pattern.
    stamp: u64,
}

/// The objects that must lie in a heap.
pub(super) struct Model {
    heap: Heap,
    kit: Kit,
    /// Oldest first.
    live: Vec<Live>,
    /// The objects' ends, by their addresses.
    ranges: BTreeMap<usize, usize>,
    stamps: u64,
}

/// The words of a body: never zero, and no two of a heap alike.
fn pattern(stamp: u64, index: usize) -> u64 {
    1 << 63 | stamp << 24 | index as u64
}

impl Live {
    /// The places of the words that the allocation leaves to the program.
    fn words(&self) -> impl Iterator<Item = (usize, *mut u64)> + use<> {
        let first = if matches!(self.kind, Kind::Array(..)) { LENGTH_OFFSET + WORD } else { HEADER_BYTES };
        let (address, bytes) = (self.address, self.bytes);
        (first..bytes)
            .step_by(WORD)
            .enumerate()
            .map(move |(index, offset)| (index, (address + offset) as *mut u64))
    }
}

fn read(address: usize) -> u64 {
    // SAFETY: the callers' addresses are words of live objects.
    unsafe { (address as *const u64).read() }
}

impl Model {
    /// `thread` tells the patterns of several models of one heap apart.
    pub(super) fn new(heap: &Heap, kit: &Kit, thread: u64) -> Model {
        let stamps = thread << 32;
        Model { heap: heap.clone(), kit: kit.clone(), live: Vec::new(), ranges: BTreeMap::new(), stamps }
    }

    /// Adds a new object, after a check of all guarantees about it, and writes its pattern.
    pub(super) fn born(&mut self, what: What, object: NonNull<u8>) {
        let (address, bytes) = (object.addr().get(), self.kit.bytes(what.kind));
        let heap = self.heap.base()..self.heap.base() + self.heap.geometry().heap_bytes();
        assert!(address.is_multiple_of(WORD) && heap.contains(&address) && address + bytes <= heap.end);
        let before = self.ranges.range(..address + bytes).next_back();
        assert!(
            before.is_none_or(|(_, end)| *end <= address),
            "{what:?} at {address:#x} overlaps {before:x?}"
        );
        assert_eq!(read(address), Header::new(self.kit.shape(what.kind).id()).bits(), "header of {what:?}");
        self.check_length(what.kind, address);
        self.stamps += 1;
        let live = Live { address, bytes, kind: what.kind, stamp: self.stamps };
        for (index, word) in live.words() {
            // SAFETY: the word is the new object's.
            let found = unsafe { word.replace(pattern(live.stamp, index)) };
            assert!(what.by == By::Caller || found == 0, "{what:?}: word {index} at {word:p} is {found:#x}");
        }
        self.live.push(live);
        self.ranges.insert(address, address + bytes);
    }

    fn check_length(&self, kind: Kind, address: usize) {
        if let Kind::Array(_, length) = kind {
            assert_eq!(read(address + LENGTH_OFFSET), length as u64, "length of {kind:?}");
        }
    }

    /// Objects in the heap.
    pub(super) fn len(&self) -> usize {
        self.live.len()
    }

    /// Bytes of the newest object.
    pub(super) fn newest_bytes(&self) -> usize {
        self.live.last().map_or(0, |live| live.bytes)
    }

    /// All but the oldest `keep` objects are gone.
    pub(super) fn keep(&mut self, keep: usize) {
        for live in self.live.drain(keep..) {
            self.ranges.remove(&live.address);
        }
    }

    /// Checks that every object is unchanged.
    pub(super) fn check(&self) {
        for live in &self.live {
            assert_eq!(
                read(live.address),
                Header::new(self.kit.shape(live.kind).id()).bits(),
                "header of {live:x?}"
            );
            self.check_length(live.kind, live.address);
            for (index, word) in live.words() {
                assert_eq!(read(word.addr()), pattern(live.stamp, index), "word {index} of {live:x?}");
            }
        }
    }

    /// Objects and their bytes by shape.
    pub(super) fn census(&self) -> BTreeMap<ShapeId, (u64, u64)> {
        let mut census = BTreeMap::<_, (u64, u64)>::new();
        for live in &self.live {
            let entry = census.entry(self.kit.shape(live.kind).id()).or_default();
            *entry = (entry.0 + 1, entry.1 + live.bytes as u64);
        }
        census
    }

    /// The heap holds these objects and no others; no thread is attached.
    pub(super) fn check_heap(&self) {
        self.check();
        assert_eq!(self.heap.verify().expect("a heap that is parsable").shapes, self.census());
    }

    /// There is no room for `bytes`, as the last allocation said. `private`: its thread fills
    /// regions of its own.
    pub(super) fn check_full(&self, bytes: usize, private: bool) {
        let table = self.heap.shared.space.free.table();
        let unused = |index: &usize| {
            let (state, empty) = (table.get(*index).state(), table.get(*index).top() == table.bottom(*index));
            matches!(state, State::Free | State::Uncommitted) || private && empty && state == State::Exclusive
        };
        let region = self.heap.geometry().region_bytes();
        if bytes > region {
            let mut run = 0;
            for index in 0..table.len() {
                // A thread's emptied regions serve no humongous object.
                let free = matches!(table.get(index).state(), State::Free | State::Uncommitted);
                run = if free { run + 1 } else { 0 };
                assert!(
                    run < bytes.div_ceil(region),
                    "{bytes} bytes fit the run that ends at region {index}"
                );
            }
            return;
        }
        assert_eq!((0..table.len()).find(unused), None, "{bytes} bytes fit a region that nothing uses");
        if !private {
            let room = |index: &usize| table.end(*index) - table.get(*index).top();
            let hole =
                |index: &usize| table.get(*index).state() == State::Shared && room(index) >= bytes.max(16);
            assert_eq!((0..table.len()).find(hole), None, "{bytes} bytes fit the rest of a region");
        }
    }
}
