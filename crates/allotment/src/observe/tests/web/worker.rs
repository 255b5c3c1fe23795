//! What a thread does to its web. Between two safepoints it may know a node by its address alone.

use super::{CHILDREN, FRAME_SLOTS, Holder, NUMBER, Number, Parcel, Place, SLOTS, Spot, TWIN, Table, Web};
use crate::mutator::{Large, Mutator, OutOfMemory};
use crate::object::{Header, LENGTH_OFFSET, WORD, reference};
use crate::observe::tests::large_arrays::Random;
use crate::observe::tests::places::Frame;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// A word that is not a slot.
fn word(address: u64, offset: usize) -> u64 {
    // SAFETY: callers ask for words of live objects.
    unsafe { AtomicU64::from_ptr((address as usize + offset) as *mut u64) }.load(Ordering::Relaxed)
}

/// The slot at an offset of an object.
fn slot_at(object: u64, offset: usize) -> *mut u64 {
    (object as usize + offset) as *mut u64
}

/// The thread that works on a web now.
pub(in crate::observe::tests) struct Worker<'w, 'm, 't> {
    pub(in crate::observe::tests) web: &'w mut Web,
    pub(in crate::observe::tests) mutator: &'m mut Mutator<'t>,
    pub(in crate::observe::tests) frame: &'w Frame,
    pub(in crate::observe::tests) random: &'w mut Random,
}

impl Worker<'_, '_, '_> {
    /// What a slot holds, which is `number` in the model. The word is good until the next safepoint.
    fn load(&self, slot: *mut u64, number: Number) -> u64 {
        // SAFETY: callers ask for slots of live objects.
        let bits = unsafe { self.mutator.raw().load(slot) };
        self.look_at(bits, number);
        bits
    }

    /// The word refers to the node with that number, or to none.
    fn look_at(&self, bits: u64, number: Number) {
        if number == 0 {
            return assert_eq!(bits, 0, "a slot without a node");
        }
        assert_eq!(reference(bits), Some(bits as usize), "node {number} is {bits:#x}");
        let (found, other) = (word(bits, NUMBER), word(bits, NUMBER + WORD));
        assert_eq!((found, !other), (number, number), "at {bits:#x}");
    }

    /// Stores a node, or none, at a spot.
    fn set(&mut self, spot: Spot, bits: u64, number: Number) {
        self.web.note(spot.place, number);
        // SAFETY: slots of live objects; the word was read since the last safepoint.
        unsafe {
            self.mutator.raw().store(spot.slot, bits);
            if let Place::Child(_, 0) = spot.place {
                self.mutator.raw().store(spot.slot.byte_add(TWIN - CHILDREN), bits);
            }
        }
    }

    /// Takes the node out of a spot. Then nothing but this thread's registers knows the node.
    fn take(&mut self, spot: Spot) -> (u64, Number) {
        let number = self.web.at(spot.place);
        let bits = self.load(spot.slot, number);
        if self.random.below(3) == 0 {
            // SAFETY: a slot of a live object.
            let held = unsafe { self.mutator.raw().compare_exchange(spot.slot, bits, 0) };
            assert_eq!(held, Ok(bits), "no other thread has the slot");
        }
        self.set(spot, 0, 0);
        (bits, number)
    }

    fn table_at(&self, table: usize) -> u64 {
        let bits = self.web.tables[table].root.get(self.mutator).expect("of this heap");
        let length = self.web.tables[table].length as u64;
        assert_eq!(word(bits, LENGTH_OFFSET), length, "the length of table {table} at {bits:#x}");
        bits
    }

    /// A spot anywhere in the web.
    fn walk(&mut self) -> Spot {
        let table = self.random.below(self.web.tables.len());
        let Table { length, slots, .. } = &self.web.tables[table];
        let mut index = self.random.below(*length);
        if self.random.below(4) != 0 {
            index = slots.range(index..).next().map_or(index, |(&index, _)| index);
        }
        let slot = slot_at(self.table_at(table), SLOTS + index * WORD);
        let mut spot = Spot { place: Place::Table(table, index), slot };
        while self.random.below(5) != 0 {
            let number = self.web.at(spot.place);
            if number == 0 {
                break;
            }
            let (node, side) = (self.load(spot.slot, number), self.random.below(2));
            spot = Spot { place: Place::Child(number, side), slot: slot_at(node, CHILDREN + side * WORD) };
        }
        spot
    }

    /// A spot without a node, if one is found soon.
    fn walk_to_room(&mut self) -> Spot {
        for _ in 0..6 {
            let spot = self.walk();
            if self.web.at(spot.place) == 0 {
                return spot;
            }
        }
        self.walk()
    }

    /// Puts a node somewhere. The node that was there dies.
    fn put(&mut self, bits: u64, number: Number) {
        let spot = self.walk_to_room();
        self.set(spot, bits, number);
    }

    /// Moves nodes from slot to slot. No other place knows a node meanwhile.
    pub(in crate::observe::tests) fn shift(&mut self) {
        let from = self.walk();
        let (bits, number) = self.take(from);
        if number != 0 {
            self.put(bits, number);
        }
    }

    /// Makes a node, and puts it before the one of a spot.
    pub(in crate::observe::tests) fn push(&mut self) -> Result<(), OutOfMemory> {
        // SAFETY: the shape is the heap's; the memory is zeroed.
        let node = unsafe { self.mutator.raw_mut().alloc_raw(self.web.shapes.node, 0)? };
        let (bits, number) = (node.as_ptr() as u64, self.web.next);
        self.web.next += 1;
        self.web.about_alive += 1;
        // SAFETY: words of the new node.
        unsafe {
            slot_at(bits, NUMBER).write(number);
            slot_at(bits, NUMBER + WORD).write(!number);
        }
        self.web.nodes.insert(number, [0, 0]);
        let spot = self.walk();
        let (rest, behind) = self.take(spot);
        self.set(spot, bits, number);
        let side = self.random.below(2);
        let child = Spot { place: Place::Child(number, side), slot: slot_at(bits, CHILDREN + side * WORD) };
        self.set(child, rest, behind);
        Ok(())
    }

    /// Lets a part of the web die, and a whole table of nodes if there are many.
    pub(in crate::observe::tests) fn drop_some(&mut self) {
        let spot = self.walk();
        self.set(spot, 0, 0);
        if self.web.about_alive > self.web.most_nodes {
            let table = self.random.below(self.web.tables.len());
            let length = self.web.tables[table].length;
            self.clear_slots(table, 0, length);
            self.web.count();
        }
    }

    fn clear_slots(&mut self, table: usize, from: usize, count: usize) {
        let first = slot_at(self.table_at(table), SLOTS + from * WORD);
        // SAFETY: slots of the table.
        unsafe { self.mutator.raw().store_slots(first, count, 0) };
        self.web.tables[table].slots.retain(|slot, _| !(from..from + count).contains(slot));
    }

    /// Moves a range of slots. Then only the copies know the nodes.
    pub(in crate::observe::tests) fn shift_range(&mut self) {
        let tables = self.web.tables.len();
        let (from, to) = (self.random.below(tables), self.random.below(tables));
        let most = self.web.tables[from].length.min(self.web.tables[to].length);
        let count = 1 + self.random.below(most);
        let start = self.random.below(self.web.tables[from].length - count + 1);
        let at = self.random.below(self.web.tables[to].length - count + 1);
        let (source, target) = (start..start + count, at..at + count);
        let rescued = self.some_of(to, target.clone(), |slot| from != to || !source.contains(&slot));
        self.copy_slots(to, at, from, start, count);
        if from != to {
            self.clear_slots(from, start, count);
        }
        for slot in source.filter(|slot| from == to && !target.contains(slot)) {
            self.clear_slots(from, slot, 1);
        }
        rescued.into_iter().for_each(|(bits, number)| self.put(bits, number));
    }

    /// Some of the nodes in a range of slots. The caller overwrites the slots, and puts the nodes
    /// elsewhere.
    fn some_of(
        &self,
        table: usize,
        range: Range<usize>,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Vec<(u64, Number)> {
        let object = self.table_at(table);
        let nodes = self.web.tables[table].slots.range(range).filter(|(slot, _)| is_wanted(**slot)).take(4);
        nodes
            .map(|(slot, number)| (self.load(slot_at(object, SLOTS + slot * WORD), *number), *number))
            .collect()
    }

    fn copy_slots(&mut self, to: usize, at: usize, from: usize, start: usize, count: usize) {
        let slot = |table, index| slot_at(self.table_at(table), SLOTS + index * WORD);
        // SAFETY: slots of the tables.
        unsafe { self.mutator.raw().copy_slots(slot(to, at), slot(from, start), count) };
        let copied: Vec<_> = self.web.tables[from]
            .slots
            .range(start..start + count)
            .map(|(&slot, &number)| (slot - start + at, number))
            .collect();
        let slots = &mut self.web.tables[to].slots;
        slots.retain(|slot, _| !(at..at + count).contains(slot));
        slots.extend(copied);
    }

    /// A table of null, made in pieces if it is large.
    fn table(&mut self, length: usize) -> Result<Table, OutOfMemory> {
        let shape = self.web.shapes.table;
        let bytes = shape.bytes_for(length).expect("a size");
        let large = Large { header: shape.header(), bytes, length, has_slots: true };
        // SAFETY: the shape is the heap's, with a tail of slots alone; the bytes are all written.
        let object = unsafe {
            match large.has_pieces() {
                true => self.mutator.alloc_in_pieces(&large, &mut |object, piece| {
                    object.byte_add(piece.start).write_bytes(0, piece.len());
                })?,
                false => self.mutator.raw_mut().alloc_raw(shape, length)?,
            }
        };
        let header = Header::from_bits(word(object.as_ptr() as u64, 0));
        assert_eq!(header.kind(), shape.header().kind(), "the disguise has ended");
        // SAFETY: a live object.
        let root = unsafe { self.mutator.raw().new_root(object.as_ptr() as u64) };
        Ok(Table { root, length, slots: BTreeMap::new() })
    }

    /// Makes a table, up to `most`. If there are that many, another table dies, after the nodes of
    /// its first slots have gone to the new one.
    pub(in crate::observe::tests) fn add_table(
        &mut self,
        length: usize,
        most: usize,
    ) -> Result<(), OutOfMemory> {
        let table = self.table(length)?;
        self.web.tables.push(table);
        let last = self.web.tables.len() - 1;
        if last >= most {
            let old = self.random.below(last);
            self.copy_slots(last, 0, old, 0, length.min(self.web.tables[old].length));
            drop(self.web.tables.swap_remove(old));
        }
        Ok(())
    }

    /// Fills a table with one node, and clears all of these slots but one.
    pub(in crate::observe::tests) fn fill(&mut self) {
        let spot = self.walk();
        let (bits, number) = self.take(spot);
        if number == 0 {
            return;
        }
        let table = self.random.below(self.web.tables.len());
        let length = self.web.tables[table].length;
        let rescued = self.some_of(table, 0..length, |_| true);
        let first = slot_at(self.table_at(table), SLOTS);
        // SAFETY: slots of the table; the node was read since the last safepoint.
        unsafe { self.mutator.raw().store_slots(first, length, bits) };
        let kept = self.random.below(length);
        self.web.tables[table].slots.clear();
        self.clear_slots(table, 0, kept);
        self.clear_slots(table, kept + 1, length - kept - 1);
        self.web.tables[table].slots.insert(kept, number);
        rescued.into_iter().for_each(|(bits, number)| self.put(bits, number));
    }

    /// Moves a node from a slot to a handle, a pin, or the frame.
    pub(in crate::observe::tests) fn lay_aside(&mut self) {
        let spot = self.walk();
        if self.web.at(spot.place) == 0 || self.web.aside.len() > 12 {
            return self.take_back();
        }
        let (bits, number) = self.take(spot);
        let is_used = |index: &usize| {
            self.web.aside.iter().any(|(holder, _)| matches!(holder, Holder::Frame(other) if other == index))
        };
        let free = (0..FRAME_SLOTS).find(|index| !is_used(index));
        // SAFETY: the node was read since the last safepoint.
        let holder = unsafe {
            match (self.random.below(3), free) {
                (0, _) => Holder::Pin(self.mutator.raw().pin(NonNull::new(bits as *mut u8).expect("a node"))),
                (1, Some(index)) => {
                    self.frame.set(index, bits);
                    Holder::Frame(index)
                }
                _ => Holder::Handle(self.mutator.raw().new_root(bits)),
            }
        };
        self.web.aside.push((holder, number));
    }

    fn held(&self, holder: &Holder, number: Number) -> u64 {
        let bits = match holder {
            Holder::Handle(root) => root.get(self.mutator).expect("of this heap"),
            Holder::Pin(pin) => pin.object().as_ptr() as u64,
            Holder::Frame(index) => self.frame.get(*index),
        };
        self.look_at(bits, number);
        bits
    }

    /// Moves a node back to a slot.
    pub(in crate::observe::tests) fn take_back(&mut self) {
        if self.web.aside.is_empty() {
            return;
        }
        let chosen = self.random.below(self.web.aside.len());
        let (mut holder, number) = self.web.aside.swap_remove(chosen);
        if let Holder::Handle(root) = &holder
            && self.random.below(2) == 0
        {
            // The copy may lie where a visit has been, or has not.
            let copy = root.clone();
            holder = Holder::Handle(copy);
        }
        let bits = self.held(&holder, number);
        self.put(bits, number);
        if let Holder::Frame(index) = holder {
            self.frame.set(index, 0);
        }
    }

    /// Makes a weak handle to a node, which may die then, or reads one. A dead node that no
    /// collection has taken yet may come back.
    pub(in crate::observe::tests) fn look_weakly(&mut self) {
        if self.web.weak.len() < 8 || self.random.below(2) == 0 && self.web.weak.len() < 24 {
            let spot = self.walk();
            let number = self.web.at(spot.place);
            if number != 0 {
                let bits = self.load(spot.slot, number);
                // SAFETY: the node was read since the last safepoint.
                let weak = unsafe { self.mutator.raw().new_weak_root(bits) };
                self.web.weak.push((weak, number));
                if self.random.below(3) == 0 {
                    self.set(spot, 0, 0);
                }
            }
            return;
        }
        let chosen = self.random.below(self.web.weak.len());
        let (weak, number) = self.web.weak.swap_remove(chosen);
        let bits = weak.get(self.mutator).expect("of this heap");
        let alive = self.web.alive();
        if bits == 0 {
            return assert!(
                !alive.contains(&number),
                "node {number} lives, and a weak handle to it was cleared"
            );
        }
        self.look_at(bits, number);
        // A node below may have come back before, and has its one place.
        if self.web.reachable([number]).is_disjoint(&alive) {
            self.put(bits, number);
        }
    }

    /// Takes a node and what hangs on it out of the web, for another thread.
    pub(in crate::observe::tests) fn give(&mut self) -> Option<Parcel> {
        let spot = self.walk();
        let (bits, number) = self.take(spot);
        if number == 0 {
            return None;
        }
        // SAFETY: the node was read since the last safepoint.
        let root = unsafe { self.mutator.raw().new_root(bits) };
        let gone = self.web.reachable([number]);
        // The model must know which part of the web is dead.
        let known = self.web.weak.iter().map(|(_, number)| *number);
        let touched: BTreeSet<_> =
            known.filter(|&weak| !self.web.reachable([weak]).is_disjoint(&gone)).collect();
        self.web.weak.retain(|(_, number)| !touched.contains(number));
        let nodes = gone.iter().map(|number| (*number, self.web.nodes[number])).collect();
        self.web.nodes.retain(|number, _| !gone.contains(number));
        Some(Parcel { root, number, nodes })
    }

    /// Takes the nodes of another thread into the web.
    pub(in crate::observe::tests) fn accept(&mut self, parcel: Parcel) {
        let Parcel { root, number, nodes } = parcel;
        self.web.about_alive += nodes.len();
        self.web.nodes.extend(nodes);
        let bits = root.get(self.mutator).expect("of this heap");
        self.look_at(bits, number);
        self.put(bits, number);
    }

    /// Allocates garbage.
    pub(in crate::observe::tests) fn waste(&mut self, bytes: usize) -> Result<(), OutOfMemory> {
        // SAFETY: the shape is the heap's.
        unsafe { self.mutator.raw_mut().alloc_raw(self.web.shapes.bytes, bytes).map(|_| ()) }
    }

    /// All nodes are where the model says, each in one place.
    pub(in crate::observe::tests) fn check(&mut self) {
        let alive = self.web.count();
        let mut pending = Vec::new();
        for table in 0..self.web.tables.len() {
            let object = self.table_at(table);
            for index in 0..self.web.tables[table].length {
                let number = self.web.at(Place::Table(table, index));
                let bits = self.load(slot_at(object, SLOTS + index * WORD), number);
                pending.push((bits, number));
            }
        }
        pending.extend(self.web.aside.iter().map(|(holder, number)| (self.held(holder, *number), *number)));
        let mut found = BTreeMap::new();
        while let Some((bits, number)) = pending.pop() {
            if number == 0 {
                continue;
            }
            assert_eq!(found.insert(number, bits), None, "two places hold node {number}");
            for side in 0..2 {
                let child = self.web.nodes[&number][side];
                pending.push((self.load(slot_at(bits, CHILDREN + side * WORD), child), child));
            }
            // SAFETY: slots of a live node.
            let (first, twin) = unsafe {
                let raw = self.mutator.raw();
                (raw.load(slot_at(bits, CHILDREN)), raw.load_weak(slot_at(bits, TWIN)))
            };
            assert_eq!(first, twin, "the weak slot of node {number} at {bits:#x}");
        }
        assert!(found.keys().eq(&alive), "each node of the model is there");
        let places: BTreeSet<_> = found.values().collect();
        assert_eq!(places.len(), found.len(), "two nodes are in one place");
    }
}
