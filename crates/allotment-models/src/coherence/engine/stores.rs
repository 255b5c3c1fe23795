//! The store buffer: how stores enter it, and how it drains.

use super::{CoherenceEngine, Event, Purpose, Request, Waiting};
use crate::coherence::caches::{Wanted, line_of};
use crate::coherence::program::{Program, Step};

impl<P: Program> CoherenceEngine<P> {
    pub(super) fn buffer(&mut self, core: usize, address: u64, value: u64) -> Option<u64> {
        let this = &mut self.cores[core];
        if this.buffer.len() + usize::from(this.leaving) == self.geometry.store_buffer {
            this.waiting = Waiting::Place;
            return None;
        }
        self.caches.counters.stall_cycles += self.now - this.since;
        this.buffer.push_back((address, value));
        let first = this.buffer.len() == 1 && !this.leaving;
        self.caches.counters.memory_operations += 1;
        if first {
            self.plan(self.now + 1, Event::Drain(core as u16));
        } else {
            self.ask_ahead(core, line_of(address));
        }
        Some(self.now + 1)
    }

    /// Requests the line of a store that is not the oldest.
    pub(super) fn ask_ahead(&mut self, core: usize, line: u32) {
        let this = &mut self.cores[core];
        let cache = &self.caches.private[core];
        if this.last_ahead == Some(line)
            || this.ahead == self.geometry.fill_buffers
            || cache.state(line).is_writable()
        {
            return;
        }
        this.ahead += 1;
        this.last_ahead = Some(line);
        self.ask(line, Request { core: core as u16, purpose: Purpose::Ahead });
    }

    pub(super) fn drain(&mut self, core: usize) {
        let Some(&(address, _)) = self.cores[core].buffer.front() else { return };
        let line = line_of(address);
        match self.caches.hit(core, line, Wanted::Write) {
            Some((slot, _)) => {
                let arrived = self.caches.private[core].copies[slot].ready.max(self.now);
                self.stored(core, arrived + 1);
            }
            None => self.ask(line, Request { core: core as u16, purpose: Purpose::Drain }),
        }
    }

    /// Writes the oldest store; its place is free at `end`.
    pub(super) fn stored(&mut self, core: usize, end: u64) {
        let this = &mut self.cores[core];
        let Some((address, value)) = this.buffer.pop_front() else { return };
        this.leaving = true;
        self.caches.write(core, address, value);
        self.perform(core, Step::Store(address, value), value, false);
        self.plan(end, Event::Drained(core as u16));
    }

    pub(super) fn drained(&mut self, core: usize) {
        let this = &mut self.cores[core];
        this.leaving = false;
        let wakes = match this.waiting {
            Waiting::Place => true,
            Waiting::Empty => this.buffer.is_empty(),
            Waiting::No | Waiting::Copy(_) => false,
        };
        if wakes {
            this.waiting = Waiting::No;
            self.plan(self.now, Event::Run(core as u16));
        }
        self.drain(core);
    }
}
