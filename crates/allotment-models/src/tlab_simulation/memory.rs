//! How a simulated thread gets memory: the slow path of the heap's `mutator/alloc/refill.rs`, with
//! the heap's own sizing and budget.

use super::engine::Engine;
use super::regions::Piece;
use super::thread::Buffer;
use allotment::internals::tlab::{CensusEntry, Request, Settlement};

/// How a thread came to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemorySource {
    /// Directly after its buffer.
    InPlace,
    /// As a buffer somewhere else.
    Elsewhere,
    /// For one object, outside buffers.
    Outside,
}

impl Engine {
    /// Allocates the object that the thread wants next, in memory that it takes for this. `None`:
    /// the heap has none. The object comes at once: another thread may stop the world next, and
    /// take the buffer back.
    pub(super) fn allocate(&mut self, id: usize) -> Option<MemorySource> {
        let Some(taken) = self.refill(id) else { return self.allocate_outside(id) };
        self.regions.objects += self.threads[id].bump();
        Some(taken)
    }

    /// Takes a new buffer; `None`: the object belongs outside, or there is no memory.
    fn refill(&mut self, id: usize) -> Option<MemorySource> {
        let now_ms = self.now_ms();
        let thread = &mut self.threads[id];
        let object = thread.next;
        if object > self.config.max_tlab_size as u64 {
            return None;
        }
        let least = object.max(self.config.min_tlab_size as u64);
        let in_place = thread.buffer.is_some_and(|buffer| self.regions.can_extend(buffer.piece, least));
        if !in_place && self.keeps(id) {
            return None;
        }
        let thread = &mut self.threads[id];
        if self.budget.settle(&self.config, &mut thread.sizing, now_ms) == Settlement::RunCensus {
            let entries = self.threads.iter().map(|thread| CensusEntry::from(&thread.sizing));
            self.budget.census(entries, now_ms);
        }
        let thread = &mut self.threads[id];
        let Request { min, size } =
            thread.sizing.request(&self.config, object as usize, usize::MAX, now_ms)?;
        let (min, size) = (min as u64, size as u64);
        if in_place
            && let Some(buffer) = &mut thread.buffer
            && let Some(bytes) = self.regions.extend(buffer.piece, min, size)
        {
            buffer.piece.end += bytes;
            self.granted(id, bytes);
            return Some(MemorySource::InPlace);
        }
        let Some(piece) =
            self.take_buffer(id, object, min, size).or_else(|| self.take_buffer(id, object, object, size))
        else {
            self.threads[id].sizing.refused();
            return None;
        };
        self.drop_buffer(id);
        self.threads[id].buffer = Some(Buffer { piece, top: piece.start });
        self.granted(id, piece.bytes());
        Some(MemorySource::Elsewhere)
    }

    /// Whether so much of the buffer is free that it is kept for smaller objects.
    fn keeps(&mut self, id: usize) -> bool {
        let thread = &mut self.threads[id];
        let keeps =
            thread.buffer.is_some_and(|buffer| thread.sizing.keep(&self.config, buffer.free() as usize));
        thread.counts.slow_allocations += u64::from(keeps);
        keeps
    }

    fn take_buffer(&mut self, id: usize, object: u64, min: u64, size: u64) -> Option<Piece> {
        let cpu = self.threads[id].cpu;
        self.regions.take_spare(cpu, object).or_else(|| self.regions.allocate(cpu, min, size))
    }

    fn granted(&mut self, id: usize, bytes: u64) {
        let now_ms = self.now_ms();
        let thread = &mut self.threads[id];
        thread.sizing.granted(&self.config, bytes as usize, now_ms);
        thread.counts.refills += 1;
        thread.counts.allocated += bytes;
        self.tally.granted += bytes;
    }

    /// Gives up a buffer for a new one: what is free in it is waste.
    fn drop_buffer(&mut self, id: usize) {
        let thread = &mut self.threads[id];
        let Some(buffer) = thread.buffer.take() else { return };
        self.regions.leave(buffer.piece.region);
        let free = buffer.free();
        thread.counts.refill_waste += free;
        self.waste += free;
    }

    /// Memory for one object, without a buffer.
    fn allocate_outside(&mut self, id: usize) -> Option<MemorySource> {
        let thread = &mut self.threads[id];
        let bytes = thread.next;
        let piece = self.regions.allocate(thread.cpu, bytes, bytes)?;
        // A spare may be larger than the object.
        let rest = piece.bytes() - bytes;
        if !self.regions.give_back(thread.cpu, piece.region, piece.start + bytes, piece.end) {
            self.waste += rest;
        }
        thread.counts.outside_allocations += 1;
        thread.counts.outside_bytes += bytes;
        thread.allocated += bytes;
        (thread.left, thread.next) = (thread.left.saturating_sub(bytes), 0);
        self.regions.objects += bytes;
        self.tally.granted += bytes;
        Some(MemorySource::Outside)
    }

    /// Takes the buffer of a thread away. `give_back`: whether others may use the rest; otherwise
    /// it is waste.
    pub(super) fn retire(&mut self, id: usize, give_back: bool) {
        let thread = &mut self.threads[id];
        let Some(Buffer { piece, top }) = thread.buffer.take() else { return };
        self.regions.leave(piece.region);
        thread.sizing.retired();
        if !give_back || !self.regions.give_back(thread.cpu, piece.region, top, piece.end) {
            thread.counts.gc_waste += piece.end - top;
            self.waste += piece.end - top;
        }
    }

    /// Gives back the buffers of all threads.
    pub(super) fn retire_all(&mut self) {
        (0..self.threads.len()).for_each(|id| self.retire(id, true));
    }

    /// Gives back the buffers of all threads. The tails that earlier buffers left for others become
    /// waste.
    pub(super) fn end_buffers(&mut self) {
        self.retire_all();
        self.waste += self.regions.forget_spares();
    }
}
