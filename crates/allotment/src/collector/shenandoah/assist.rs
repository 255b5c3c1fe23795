//! Mutators pay for the memory that they take while a cycle runs.
//!
//! Few workers cannot keep up with hundreds of threads that allocate. So a thread owes work for
//! the memory that it takes (`levy.rs`), and pays in this order:
//!
//! ```text
//! where it takes memory       from the credit of workers
//!                             by a slice of the cycle's work, as in Go
//! at its next safepoint       from the credit; by slices; if there is nothing to help with, by
//!                             waiting in `blocking` for credit, up to ShenandoahPacingMaxDelay
//! ```
//!
//! Lists leave nothing to share while they are marked, and then a thread can only wait. A thread
//! that waits brings no cycle to its end, but leaves the memory and the CPU to those that do.
//!
//! A slice ends after [`SLICE`], or when a stop is requested. A slice waits for nothing and reaches
//! no safepoint. A thread that has waited for the longest time goes on and keeps its debt. So the
//! program always goes on, and the only thread of a program does not wait for itself.
//!
//! With `ZealCycles` threads help each cycle, and a slice ends after a count instead of a time. So
//! slices end at every place, and runs with one seed are alike.

use super::engine::Engine;
use crate::collector::concurrent::{BoundedStack, Copier, Marker, Updater};
use crate::mutator::{Debt, Hot, Mutator, Shared};
use crate::timeline::{Arguments, Category};
use std::time::{Duration, Instant};

/// The time after which a slice ends.
const SLICE: Duration = Duration::from_micros(50);

/// The number of questions after which a slice ends with `ZealCycles`: a pseudo-random one.
/// `before` slices were begun earlier.
fn random_questions(before: u64) -> u64 {
    // Up to 4,096, and short slices as often as long ones.
    let random = before.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    1 + ((random >> 8 & 0xFFF) >> (random % 12))
}

impl Engine {
    /// Charges a thread for memory: `bytes`, and all that it took before. The thread pays a part of
    /// its debt, and the rest at its next safepoint. Not while old objects alone are marked.
    pub(super) fn charge(&self, mutator: &Mutator<'_>, bytes: usize) {
        let Some(levy) = self.pacer.levy() else {
            self.note_uncharged(mutator, bytes);
            if self.eager_assists {
                self.slice(mutator);
            }
            return;
        };
        let mut debt = mutator.debt();
        levy.charge(&mut debt, mutator.taken_bytes(), bytes as u64);
        self.pay_by_credit(&mut debt);
        if debt.owed_bytes > 0 || self.eager_assists {
            self.pay_by_work(mutator, &mut debt);
        }
        mutator.set_debt(debt);
        if debt.owed_bytes >= levy.worth_a_wait() && !self.pacer.max_delay().is_zero() {
            mutator.wait_at_safepoint();
        }
    }

    /// Notes that a thread takes memory for which nobody pays: `bytes`, and all that it took
    /// before.
    pub(super) fn note_uncharged(&self, mutator: &Mutator<'_>, bytes: usize) {
        let charged_bytes = mutator.taken_bytes() + bytes as u64;
        mutator.set_debt(Debt { charged_bytes, ..mutator.debt() });
    }

    /// Lets a thread with a large debt pay it, at a safepoint. Returns after
    /// `ShenandoahPacingMaxDelay` in any case, with a part of the debt left.
    pub(super) fn settle(&self, mutator: &mut Mutator<'_>) {
        let (begun, mut waited) = (Instant::now(), false);
        loop {
            let mut debt = mutator.debt();
            let Some(levy) = self.pacer.levy().filter(|levy| levy.number == debt.levy) else { break };
            self.pay_by_credit(&mut debt);
            mutator.set_debt(debt);
            if debt.owed_bytes < levy.worth_a_wait() {
                break;
            }
            let left = self.pacer.max_delay().saturating_sub(begun.elapsed());
            if left.is_zero() {
                break;
            }
            if !mutator.is_stop_requested() {
                let paid = self.pay_by_work(mutator, &mut debt);
                mutator.set_debt(debt);
                if paid {
                    continue;
                }
            }
            waited = true;
            // A stop that is requested goes first: its wait is not for credit.
            mutator.blocking(|| self.pacer.wait(debt.levy, left));
        }
        self.pacer.pass_on();
        if waited {
            let time = begun.elapsed();
            self.assisted.waited(time);
            if let Some(timeline) = &mutator.shared().watch.timeline {
                timeline.did(Category::Assist, "Pacing", (begun, time), Arguments::default());
            }
        }
    }

    fn pay_by_credit(&self, debt: &mut Debt) {
        debt.owed_bytes -= self.pacer.pay(debt.owed_bytes);
    }

    /// Does a slice of the cycle's work. Work beyond the debt pays for other threads, unless the
    /// step has ended meanwhile: the credit of a step is for its own work. Returns whether there
    /// was anything to do.
    fn pay_by_work(&self, mutator: &Mutator<'_>, debt: &mut Debt) -> bool {
        let levy = debt.levy;
        let done = self.slice(mutator) as u64;
        let paid = done.min(debt.owed_bytes);
        debt.owed_bytes -= paid;
        self.did(mutator.shared(), levy, done, paid);
        done > 0
    }

    /// Does a slice of the cycle's work. Returns its bytes of work.
    fn slice(&self, mutator: &Mutator<'_>) -> usize {
        let shared = mutator.shared();
        let mut questions = random_questions(self.assisted.begin_slice());
        let begun = Instant::now();
        let mut ends = || {
            if !self.eager_assists {
                return begun.elapsed() >= SLICE;
            }
            questions = questions.saturating_sub(1);
            questions == 0
        };
        let mut halted = || mutator.is_stop_requested() || ends();
        let done = if shared.threads.barriers() & Hot::FORWARDING != 0 {
            self.assist_moving(shared, &mut halted)
        } else if self.tables.marks_young() {
            self.assist_marking(shared, &mut halted)
        } else {
            0
        };
        let time = begun.elapsed();
        self.assisted.end_slice(time);
        if let Some(timeline) = &shared.watch.timeline {
            timeline.did(Category::Assist, "Assist", (begun, time), Arguments::default());
        }
        done
    }

    fn assist_marking(&self, shared: &Shared, halted: &mut dyn FnMut() -> bool) -> usize {
        let Some(entries) = BoundedStack::new() else { return 0 };
        let marking = self.marking(shared, &self.interrupt, self.tables.sought());
        let mut marker = Marker::new(&shared.space, marking, entries);
        if !marker.drain_some(halted) {
            self.left.found.want();
        }
        let found = marker.finish();
        self.assisted.add_found(found);
        found.bytes as usize
    }

    /// Copies, or updates if nothing is left to copy. Small pieces follow each other until the
    /// slice ends.
    fn assist_moving(&self, shared: &Shared, halted: &mut dyn FnMut() -> bool) -> usize {
        let (home, evacuator) = (shared.space.home(), self.evacuator(&shared.space));
        let mut done = 0;
        let mut copier = Copier::new(evacuator, home);
        while let Some(bytes) = self.copy_next(shared, &mut copier, halted) {
            done += bytes;
            if halted() {
                break;
            }
        }
        self.copies.count(home, copier.finish());
        if done > 0 {
            return done;
        }
        let mut updater = Updater::new(evacuator, home);
        while let Some(bytes) = self.update_next(shared, &mut updater, halted) {
            done += bytes;
            if halted() {
                break;
            }
        }
        done
    }
}
