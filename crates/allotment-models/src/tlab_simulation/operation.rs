//! The operations of a simulated thread, and their counts.
//!
//! An operation begins, allocates its bytes, and ends. With a think time it has two parts. Its time
//! is counted at the end of the part before thinking, and the time that it stood still for memory
//! at the end of each part.

use super::cpus::Task;
use super::engine::{Engine, nanoseconds};
use super::memory::MemorySource;
use super::scenario::Arrival;
use super::thread::{Role, Stage};
use std::time::Duration;

/// The next step of a thread.
pub(super) enum NextStep {
    /// It goes on, with a burst.
    Goes,
    /// It sleeps until then.
    Sleeps(u64),
    Ends,
    NoMemory,
}

impl Engine {
    /// The next step of a thread whose burst is over.
    pub(super) fn decide(&mut self, id: usize) -> NextStep {
        let scenario = self.scenario;
        let thread = &mut self.threads[id];
        match thread.stage {
            Stage::Away | Stage::Woken => NextStep::Sleeps(u64::MAX),
            Stage::Begin => {
                thread.stage = Stage::Work;
                thread.began = self.now;
                let before_thinking = (scenario.bytes * u64::from(scenario.split) / 100).max(1);
                let thinks = thread.role == Role::Worker && !scenario.think.is_zero();
                thread.left = match (thread.role, scenario.rebuild) {
                    (Role::Rebuilder, Some(rebuild)) => rebuild.bytes,
                    _ if thinks && thread.thought => scenario.bytes - before_thinking,
                    _ if thinks => before_thinking,
                    _ => scenario.bytes,
                };
                let is_first = thread.done == 0 && !thread.thought && thread.role == Role::Worker;
                thread.burst = if is_first { nanoseconds(scenario.first) } else { 0 };
                NextStep::Goes
            }
            Stage::Work if thread.left == 0 => self.finish(id),
            Stage::Work => {
                let filled = thread.fill(scenario.objects, &mut self.random);
                self.regions.objects += filled;
                let thread = &mut self.threads[id];
                thread.burst = match (thread.role, scenario.rebuild) {
                    (Role::Rebuilder, Some(rebuild)) => share(rebuild.cpu, filled, rebuild.bytes),
                    _ => share(scenario.cpu, filled, scenario.bytes),
                };
                if filled == 0 && thread.left > 0 { self.go_on_allocating(id) } else { NextStep::Goes }
            }
        }
    }

    fn go_on_allocating(&mut self, id: usize) -> NextStep {
        let Some(taken) = self.allocate(id) else { return NextStep::NoMemory };
        let looks = if taken == MemorySource::Elsewhere { self.refilled() } else { 0 };
        self.threads[id].burst = nanoseconds(self.scenario.refill) + looks;
        NextStep::Goes
    }

    /// A thread stops the world for memory, and goes on first.
    pub(super) fn wait_for_memory(&mut self, id: usize) {
        self.freeze();
        self.queue.push_front(Task::Thread(id));
        self.make_room(id);
        self.threads[id].burst = nanoseconds(self.scenario.refill);
    }

    /// The end of an operation, or of its part before the thread thinks.
    fn finish(&mut self, id: usize) -> NextStep {
        let (scenario, now) = (self.scenario, self.now);
        let role = self.threads[id].role;
        match (role, scenario.rebuild) {
            (Role::Alone, _) => {
                let thread = &mut self.threads[id];
                thread.done += 1;
                thread.stage = Stage::Begin;
                return if thread.done < scenario.before { NextStep::Goes } else { NextStep::Ends };
            }
            (Role::Rebuilder, Some(rebuild)) => return NextStep::Sleeps(now + nanoseconds(rebuild.every)),
            _ => {}
        }
        self.count_wait(id);
        let think = nanoseconds(scenario.think);
        if !self.threads[id].thought {
            self.count(id);
            if think > 0 {
                let thread = &mut self.threads[id];
                thread.thought = true;
                let until =
                    if scenario.arrival.is_scheduled() { thread.planned + think } else { now + think };
                return self.sleep_until(id, until);
            }
        }
        self.threads[id].thought = false;
        self.threads[id].done += 1;
        let gap = if scenario.arrival == Arrival::Poisson {
            self.exponential(scenario.pace)
        } else {
            nanoseconds(scenario.pace)
        };
        let last = self.last_begin();
        let thread = &mut self.threads[id];
        thread.planned = if scenario.arrival.is_scheduled() { thread.planned + gap } else { now + gap };
        if thread.done >= scenario.operations || thread.planned >= last {
            return NextStep::Ends;
        }
        let until = thread.planned;
        self.sleep_until(id, until)
    }

    fn sleep_until(&mut self, id: usize, until: u64) -> NextStep {
        if until > self.now {
            return NextStep::Sleeps(until + self.delay());
        }
        self.threads[id].stage = Stage::Begin;
        NextStep::Goes
    }

    /// Whether the operation of a thread is counted, and is not warm-up.
    fn is_counted(&self, id: usize) -> bool {
        let thread = &self.threads[id];
        self.counted_from().is_some_and(|begin| thread.planned >= begin || thread.began >= begin)
    }

    /// Counts for how long the part of an operation stood still that has ended.
    fn count_wait(&mut self, id: usize) {
        let held = std::mem::take(&mut self.threads[id].held);
        if held > 0 && self.is_counted(id) {
            self.threads[id].waited = true;
            self.tally.waits.saturating_record(held);
        }
    }

    /// Counts an operation that has ended.
    fn count(&mut self, id: usize) {
        let scheduled = self.scenario.arrival.is_scheduled();
        let thread = &self.threads[id];
        let took = self.now - if scheduled { thread.planned } else { thread.began };
        if thread.done == 0 {
            self.tally.firsts.saturating_record(self.now - thread.began);
        }
        if self.is_counted(id) {
            self.tally.operations.saturating_record(took);
        }
    }

    /// A thread has done its last operation, or had none.
    pub(super) fn end(&mut self, id: usize) {
        let thread = &mut self.threads[id];
        thread.stage = Stage::Away;
        let role = thread.role;
        // Its objects die with it.
        (thread.allocated, thread.allocated_before) = (0, 0);
        self.budget.leave(&self.config, &mut thread.sizing);
        self.retire(id, true);
        if role == Role::Alone {
            self.unleash();
        } else {
            self.active -= 1;
        }
    }
}

/// The part of `whole` that `bytes` of `all` take, in ns, at least 1.
fn share(whole: Duration, bytes: u64, all: u64) -> u64 {
    ((nanoseconds(whole) as f64 * bytes as f64 / all as f64) as u64).max(u64::from(bytes > 0))
}
