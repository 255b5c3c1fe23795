//! Requests for lines: their way to the directory, the order in which the directory serves them,
//! and the effects of a request when its turn comes.

use super::{CoherenceEngine, Event, Purpose, Request, Waiting};
use crate::coherence::caches::{Supply, Wanted};
use crate::coherence::program::{Program, Step};
use crate::coherence::scenario::Arbitration;
use std::collections::VecDeque;

impl<P: Program> CoherenceEngine<P> {
    /// Cycles that a request needs to reach the directory. They are part of the request's latency.
    pub(super) fn travel(&self) -> u64 {
        self.latencies.l3 / 2
    }

    /// Asks the directory for a line.
    pub(super) fn ask(&mut self, line: u32, request: Request) {
        self.plan(self.now + self.travel(), Event::Arrive(line, request));
    }

    /// Serves a request at once if the line is free; otherwise queues the request.
    pub(super) fn arrive(&mut self, line: u32, request: Request) {
        if let Some(queue) = self.queues.get_mut(&line) {
            return queue.push_back(request);
        }
        let free = self.busy[line as usize];
        if free <= self.now {
            return self.serve(line, request);
        }
        self.queues.insert(line, VecDeque::from([request]));
        self.plan(free, Event::Free(line));
    }

    pub(super) fn free(&mut self, line: u32) {
        let index = line as usize;
        if self.busy[index] > self.now {
            return self.plan(self.busy[index], Event::Free(line));
        }
        let owner = self.caches.homes[index].owner.unwrap_or(0);
        let Some(queue) = self.queues.get_mut(&line) else { return };
        let place = match self.arbitration {
            Arbitration::Fifo => 0,
            Arbitration::Random => self.random.below(queue.len()),
            Arbitration::Nearest => {
                let distance = |place: &usize| queue[*place].core.abs_diff(owner);
                (0..queue.len()).min_by_key(distance).unwrap_or(0)
            }
        };
        let request = queue.remove(place);
        let empty = queue.is_empty();
        if empty {
            self.queues.remove(&line);
        }
        if let Some(request) = request {
            self.serve(line, request);
        }
        if !empty {
            self.plan(self.busy[index].max(self.now + 1), Event::Free(line));
        }
    }

    pub(super) fn serve(&mut self, line: u32, request: Request) {
        let core = usize::from(request.core);
        let step = self.cores[core].step;
        let reads = matches!(step, Some(Step::Load(_) | Step::WaitWhile(..)));
        let wanted = if request.purpose == Purpose::Step && reads { Wanted::Read } else { Wanted::Write };
        let supply = self.caches.acquire(core, line, wanted);
        let hit = matches!(supply, Supply::L1 | Supply::L2);
        let cache = &mut self.caches.private[core];
        let slot = cache.find(line);
        let before = if hit { slot.map_or(0, |slot| cache.copies[slot].ready) } else { 0 };
        let travelled = if hit { 0 } else { self.travel() };
        let arrived = before.max(self.now) + self.latency(supply).saturating_sub(travelled).max(1);
        if !hit {
            if let Some(slot) = slot {
                self.caches.private[core].copies[slot].ready = arrived;
            }
            self.busy[line as usize] = arrived + self.latencies.keep;
        }
        match (request.purpose, step) {
            (Purpose::Drain, _) => self.stored(core, arrived + 1),
            (Purpose::Ahead, _) => self.plan(arrived, Event::Filled(request.core)),
            (Purpose::Step, Some(step)) => {
                let end = match step {
                    Step::Load(address) => Some(self.loaded(core, address, arrived)),
                    Step::WaitWhile(address, value) => {
                        let end = self.loaded(core, address, arrived);
                        self.park(core, line, value, end)
                    }
                    Step::CompareExchange { address, .. }
                    | Step::FetchAdd(address, _)
                    | Step::Exchange(address, _) => Some(self.locked(core, address, step, arrived)),
                    Step::Store(..) | Step::Compute(_) | Step::Done => None,
                };
                if let Some(end) = end {
                    self.cores[core].step = None;
                    self.plan(end, Event::Run(request.core));
                }
            }
            (Purpose::Step, None) => {}
        }
        self.wake(arrived);
    }

    /// Wakes the cores whose copies of a line have gone, so that they read the line again.
    pub(super) fn wake(&mut self, time: u64) {
        while let Some((core, line)) = self.caches.take_lost() {
            let this = &mut self.cores[usize::from(core)];
            if this.waiting == Waiting::Copy(line) {
                this.waiting = Waiting::No;
                self.plan(time, Event::Run(core));
            }
        }
    }
}
