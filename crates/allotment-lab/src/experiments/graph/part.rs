//! A thread's part of the graph: its vertices, in a table that keeps them alive, and the steps that
//! change them.

use super::board::{Board, PLACES};
use super::load::{Load, Mix};
use super::vertex::{EDGES, LEAF_EVERY, Vertex, connect, leaf, make};
use crate::walk::Random;
use allotment::{Array, Gc, Local, Mutator, OutOfMemory, alloc, rebind};
use anyhow::{Context, bail};

/// A table of vertices.
type Table = Array<Option<Vertex>>;

/// The size of each thread's range of vertex numbers.
const NUMBERS: u64 = 1 << 48;

/// The loads of the vertices of a part of about `bytes` bytes, the table included; at least two.
pub(super) fn plan(random: &mut Random, mix: Mix, bytes: usize) -> Vec<Load> {
    let (mut loads, mut planned) = (Vec::new(), 16);
    while planned < bytes || loads.len() < 2 {
        let load = mix.load(random);
        planned += 8 + load.bytes();
        loads.push(load);
    }
    loads
}

/// A thread's part.
pub(super) struct Part<'a> {
    table: Local<'a, Table>,
    board: Local<'a, Board>,
    random: Random,
    /// Places of vertices with an array of references.
    arrays: Vec<usize>,
    vertices: usize,
    /// The sum of the vertices' numbers.
    sum: u64,
    next_number: u64,
    /// The number of deaths in 100 steps.
    death: usize,
}

impl<'a> Part<'a> {
    /// An empty part of thread `index`.
    pub(super) fn new(table: Local<'a, Table>, board: Local<'a, Board>, index: usize, death: usize) -> Self {
        let next_number = index as u64 * NUMBERS;
        let random = Random::new(index as u64);
        Part { table, board, random, arrays: Vec::new(), vertices: 0, sum: 0, next_number, death }
    }

    /// Fills the table, which has a place for each of `loads`. Every vertex is in a ring in the
    /// order of the table, and in a ring in random order.
    pub(super) fn fill(&mut self, mutator: &mut Mutator<'_>, loads: &[Load]) -> Result<(), OutOfMemory> {
        for (place, &load) in loads.iter().enumerate() {
            let number = self.number();
            let vertex = rebind!(mutator, make(mutator, load, number, place as u64)?);
            self.table.get(mutator).at(place).store(mutator, Some(vertex));
            self.sum = self.sum.wrapping_add(number);
            if matches!(load, Load::Array(_)) {
                self.arrays.push(place);
            }
        }
        self.vertices = loads.len();
        let mut places: Vec<usize> = (0..self.vertices).collect();
        for slot in [0, 2] {
            let ring = places.iter().zip(places.iter().cycle().skip(1));
            for (&place, &next) in ring {
                if let (Some(one), Some(other)) = (self.vertex(mutator, place), self.vertex(mutator, next)) {
                    connect(mutator, one, slot, other, slot + 1);
                }
            }
            self.random.shuffle(&mut places);
        }
        Ok(())
    }

    fn number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    fn vertex<'g>(&self, mutator: &'g Mutator<'_>, place: usize) -> Option<Gc<'g, Vertex>> {
        self.table.get(mutator).at(place).load(mutator)
    }

    /// One random change of the graph.
    ///
    /// # Errors
    /// The heap is full.
    #[inline]
    pub(super) fn step(&mut self, mutator: &mut Mutator<'_>) -> Result<(), OutOfMemory> {
        if self.random.below(100) < self.death {
            return self.replace(mutator);
        }
        match self.random.below(4) {
            0 => self.exchange(mutator),
            1 if !self.arrays.is_empty() => self.renew(mutator),
            _ => {
                self.rewire(mutator);
                Ok(())
            }
        }
    }

    /// Replaces a vertex: one like it takes its place and its edges.
    fn replace(&mut self, mutator: &mut Mutator<'_>) -> Result<(), OutOfMemory> {
        let place = self.random.below(self.vertices);
        let Some(load) = self.vertex(mutator, place).map(|vertex| vertex.load(mutator)) else {
            return Ok(());
        };
        let number = self.number();
        let new = rebind!(mutator, make(mutator, load, number, place as u64)?);
        let Some(old) = self.vertex(mutator, place) else { return Ok(()) };
        for slot in 0..EDGES {
            match old.neighbour(mutator, slot) {
                // An edge from the vertex to itself.
                Some((other, back)) if other.is_same(old) => connect(mutator, new, slot, new, back),
                Some((other, back)) => connect(mutator, new, slot, other, back),
                None => {}
            }
        }
        self.table.get(mutator).at(place).store(mutator, Some(new));
        self.sum = self.sum.wrapping_sub(old.number).wrapping_add(number);
        Ok(())
    }

    /// Exchanges the ends of two edges (a double edge swap: every vertex keeps its number of
    /// edges).
    fn rewire(&mut self, mutator: &Mutator<'_>) {
        let mut end = || (self.random.below(self.vertices), self.random.below(EDGES));
        let ((one, i), (two, k)) = (end(), end());
        let (Some(one), Some(two)) = (self.vertex(mutator, one), self.vertex(mutator, two)) else { return };
        let Some((far_one, j)) = one.neighbour(mutator, i) else { return };
        let Some((far_two, l)) = two.neighbour(mutator, k) else { return };
        let is_same_edge = one.is_same(two) && i == k || one.is_same(far_two) && i == l;
        if !is_same_edge {
            connect(mutator, one, i, two, k);
            connect(mutator, far_one, j, far_two, l);
        }
    }

    /// Replaces a leaf of an array of references.
    fn renew(&mut self, mutator: &mut Mutator<'_>) -> Result<(), OutOfMemory> {
        let place = self.arrays[self.random.below(self.arrays.len())];
        let leaf = alloc!(mutator, leaf(self.next_number))?;
        if let Some(array) = self.vertex(mutator, place).and_then(|vertex| vertex.array.load(mutator)) {
            let slot = self.random.below(array.len().div_ceil(LEAF_EVERY)) * LEAF_EVERY;
            array.at(slot).store(mutator, Some(leaf));
        }
        Ok(())
    }

    /// A vertex takes a leaf from the board, and leaves a new one.
    fn exchange(&mut self, mutator: &mut Mutator<'_>) -> Result<(), OutOfMemory> {
        let leaf = alloc!(mutator, leaf(self.next_number))?;
        let place = self.board.get(mutator).at(self.random.below(PLACES));
        let taken = place.load(mutator);
        place.store(mutator, Some(leaf));
        let taker = self.random.below(self.vertices);
        if let Some(vertex) = self.vertex(mutator, taker) {
            vertex.cross.store(mutator, taken);
        }
        Ok(())
    }

    /// Checks that the graph is as the steps must have left it. This is a safepoint: other threads
    /// may still be at work.
    ///
    /// # Errors
    /// Names the lost or wrong object.
    pub(super) fn check(&self, mutator: &mut Mutator<'_>) -> anyhow::Result<()> {
        let mut sum = 0_u64;
        for place in 0..self.vertices {
            if place.is_multiple_of(1024) {
                mutator.safepoint();
            }
            sum = sum.wrapping_add(self.check_vertex(mutator, place)?);
        }
        if sum != self.sum {
            bail!("the vertices' numbers sum up to {sum}, and not to {}", self.sum);
        }
        if !self
            .board
            .get(mutator)
            .as_ref()
            .iter()
            .all(|place| place.load(mutator).is_some_and(|leaf| leaf.is_whole()))
        {
            bail!("a leaf of the board is lost, or has another number than it was made with");
        }
        Ok(())
    }

    /// Checks one vertex, and returns its number.
    fn check_vertex(&self, mutator: &Mutator<'_>, place: usize) -> anyhow::Result<u64> {
        let table = self.table.get(mutator);
        let vertex = self.vertex(mutator, place).with_context(|| format!("vertex {place} is lost"))?;
        if vertex.place != place as u64 || !vertex.is_whole(mutator) {
            bail!("vertex {place} has another place, or another load, than it was made with");
        }
        for slot in 0..EDGES {
            let way = vertex.neighbour(mutator, slot);
            let (other, back) = way.with_context(|| format!("vertex {place} has lost edge {slot}"))?;
            let home = other.neighbour(mutator, back);
            if !home.is_some_and(|(home, at)| home.is_same(vertex) && at == slot) {
                bail!("edge {slot} of vertex {place} does not lead back");
            }
            let entry = table.as_ref().get(other.place as usize).and_then(|field| field.load(mutator));
            if !entry.is_some_and(|entry| entry.is_same(other)) {
                bail!("edge {slot} of vertex {place} leads to a vertex that is not in the table");
            }
        }
        Ok(vertex.number)
    }
}

#[cfg(test)]
mod tests {
    use super::super::board;
    use super::*;
    use allotment::{Heap, NewArray, root};

    const BYTES: usize = 1 << 20;

    /// Calls a function with a part in a heap of its own.
    fn with_part(
        mix: Mix,
        death: usize,
        body: impl FnOnce(&mut Mutator<'_>, &mut Part<'_>) -> anyhow::Result<()>,
    ) -> Heap {
        let heap = Heap::builder().max_heap_size(16 << 20).build().unwrap();
        let board = board::make(&heap, 1).unwrap().remove(0);
        let played = heap.attach(|mutator| {
            let loads = plan(&mut Random::new(7), mix, BYTES);
            root!(
                mutator,
                table = alloc!(mutator, NewArray::new(loads.len(), None))?,
                board = board.get(mutator)
            );
            let mut part = Part::new(table, board, 0, death);
            part.fill(mutator, &loads)?;
            body(mutator, &mut part)
        });
        played.unwrap().unwrap();
        heap
    }

    fn live(heap: &Heap) -> usize {
        heap.collections().recent.back().map_or(0, |record| record.live_bytes)
    }

    #[test]
    fn the_graph_is_whole_after_any_steps_and_has_the_size_it_was_planned_with() {
        for (mix, death) in [("default", 0), ("default", 10), ("default", 100), ("small", 10), ("arrays", 10)]
        {
            let mix = Mix::named(mix).unwrap();
            let heap = with_part(mix, death, |mutator, part| {
                part.check(mutator)?;
                mutator.collect();
                for _ in 0..20 {
                    for _ in 0..5000 {
                        part.step(mutator)?;
                    }
                    part.check(mutator)?;
                }
                mutator.collect();
                part.check(mutator)
            });
            let loads = plan(&mut Random::new(7), mix, BYTES);
            let planned: usize = loads.iter().map(|load| 8 + load.bytes()).sum();
            assert_eq!(live(&heap), 16 + planned + board::BYTES, "{mix:?} {death}");
        }
    }

    #[test]
    fn what_is_lost_is_found() {
        let complaint = |harm: fn(&Mutator<'_>, &Part<'_>)| {
            let mut complaint = String::new();
            with_part(Mix::DEFAULT, 10, |mutator, part| {
                harm(mutator, part);
                complaint = part.check(mutator).unwrap_err().to_string();
                Ok(())
            });
            complaint
        };
        let lost = complaint(|mutator, part| part.table.get(mutator).at(3).store(mutator, None));
        assert!(lost.contains("vertex") && lost.contains("not in the table"), "{lost}");
        let bent = complaint(|mutator, part| {
            let (one, other) = (part.vertex(mutator, 5).unwrap(), part.vertex(mutator, 9).unwrap());
            connect(mutator, one, 0, other, 0);
        });
        assert!(bent.contains("does not lead back"), "{bent}");
        let board = complaint(|mutator, part| part.board.get(mutator).at(0).store(mutator, None));
        assert!(board.contains("a leaf of the board"), "{board}");
        let leafless = complaint(|mutator, part| {
            part.vertex(mutator, 0).unwrap().cross.store(mutator, None);
        });
        assert!(leafless.contains("another load"), "{leafless}");
    }

    #[test]
    fn a_plan_has_the_bytes_that_were_asked_for() {
        let loads = plan(&mut Random::new(1), Mix::DEFAULT, 4 << 20);
        let bytes = 16 + loads.iter().map(|load| 8 + load.bytes()).sum::<usize>();
        assert!((4 << 20..(4 << 20) + (48 << 10)).contains(&bytes), "{bytes}");
    }
}
