//! The duty: what a thread does after a light stop, before any other work.
//!
//! A light stop looks at no thread. Each thread takes over what the stop decided by itself:
//!
//! ```text
//! barriers of the heap  ->  the thread's hot part
//! once for each visit of roots that a stop began:
//!   the buffer is filled, the regions of marks are given to all; the roots in frames are visited
//! requests accepted, reservations lapsed           as at every safepoint
//! ```
//!
//! The last part may be long. So a worker of the collector may do it for a thread in `blocking`
//! ([`Threads::visit_roots_of_safe_threads`]). **Invariant:** a thread that is safe, and whose
//! visit was not done, has a duty, or sleeps and so has a duty when it comes back. It cannot leave
//! without the lock that the worker holds.
//!
//! The buffer is *filled*: nothing goes back to the region. The stop took the tops of regions as
//! borders, and an object that is allocated below a border counts as one that the collector knows.

use crate::mutator::roots::visit_links;
use crate::mutator::safepoint::AbortOnUnwind;
use crate::mutator::thread::Threads;
use crate::mutator::thread::registry::Attached;
use crate::mutator::thread::state::State;

const PANICKED: &str =
    "code that visited the roots of a thread panicked (see above): a collector would miss objects";

impl State {
    /// Does the duty. Called by the owner, which runs.
    #[cold]
    pub(in crate::mutator) fn do_duty(&self) {
        let abort = AbortOnUnwind::new(PANICKED);
        // First: until then a worker may use this state in place of the owner.
        let mut visited = self.lock_roots();
        self.hot.barriers.set(self.shared.threads.barriers());
        // Before requests are served: one may ask for the buffer, and its tail would go back.
        self.visit_if_due(&mut visited);
        self.come_to_safepoint();
        drop(visited);
        abort.disarm();
    }

    /// Does the duty of a thread that will come to no safepoint any more, if that takes no visit of
    /// roots: `false` otherwise. Called by the owner in a child of `fork()` in which the heap cannot
    /// be used. Waits for no lock.
    pub(in crate::mutator) fn do_short_duty(&self) -> bool {
        let threads = &self.shared.threads;
        let is_visited = self.visited.try_lock().is_ok_and(|visited| threads.was_visited(*visited));
        if is_visited {
            self.hot.barriers.set(threads.barriers());
        }
        is_visited
    }

    /// Visits the roots in the thread's frames, if this was not done since the last visit began.
    /// `visited` is this state's. Called by the owner, or by a worker that found the owner safe.
    fn visit_if_due(&self, visited: &mut u64) {
        let shared = &*self.shared;
        if shared.threads.was_visited(*visited) {
            return;
        }
        self.retire_buffer(false);
        self.owned.borrow_mut().dissolve(shared);
        if let Some(collector) = shared.collector.concurrent() {
            // SAFETY: the owner calls this itself; or it is safe, and the caller holds its lock.
            collector.visit_roots(shared, &mut |slots| unsafe { visit_links(self.roots(), slots) });
        }
        *visited = shared.threads.root_visits();
    }
}

impl Threads {
    /// Visits the roots of the threads that are safe and were not visited. Returns whether all
    /// threads were visited: the others run, and do so before any other work. For a worker of the
    /// collector.
    pub(crate) fn visit_roots_of_safe_threads(&self) -> bool {
        for number in 0.. {
            // One thread at a time: a stop needs the registry.
            let inner = self.registry.threads.lock();
            let Some(state) = inner.threads.get(number).map(Attached::state) else { break };
            let mut visited = state.lock_roots();
            // Asked under the lock: a thread that is safe now cannot run past its duty.
            if state.status.is_safe() {
                let abort = AbortOnUnwind::new(PANICKED);
                state.visit_if_due(&mut visited);
                abort.disarm();
            }
        }
        let is_done =
            |state: &State| state.visited.try_lock().is_ok_and(|visited| self.was_visited(*visited));
        self.registry.threads.lock().threads.iter().map(Attached::state).all(is_done)
    }
}
