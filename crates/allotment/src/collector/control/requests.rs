//! The requests to a control thread, and how the thread learns of them.
//!
//! ```text
//! rests --ask--> begins --next--> looks
//!   ^--------rest--'----------------'        anything --end--> ends
//! ```
//!
//! The thread parks while it rests. A caller that asks or ends changes the state first and then
//! unparks the thread. A new request counts as new even if the thread saw nothing of the rest
//! before it. Refused: a condition variable with a lock, because mutators that find eden full and
//! stoppers would take that lock.

use crate::sync::{AtomicU8, Ordering};

/// The state of a control thread. Written by mutators (ask, rest), in the stopped world (rest), by
/// the thread itself (begin), and last of all by the thread that drops the collector (end).
/// Relaxed: the state publishes nothing else; the end publishes all work done before it.
#[derive(Default)]
pub(super) struct Requests(AtomicU8);

const RESTS: u8 = 0;
const BEGINS: u8 = 1;
const LOOKS: u8 = 2;
const ENDS: u8 = 3;

/// The thread's next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Park.
    Rest,
    /// Look, for the first time since this request.
    Begin,
    /// Look again.
    Look,
    /// Return.
    End,
}

impl Requests {
    /// Asks a resting thread for looks. Returns `false` if the thread does not rest.
    pub(super) fn ask(&self) -> bool {
        self.0.compare_exchange(RESTS, BEGINS, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Withdraws the request for looks. Not called once the thread is to end.
    pub(super) fn rest(&self) {
        self.0.store(RESTS, Ordering::Relaxed);
    }

    /// Tells the thread to end: no look will be wanted again.
    pub(super) fn end(&self) {
        self.0.store(ENDS, Ordering::Release);
    }

    /// Whether looks are wanted.
    pub(super) fn is_asked(&self) -> bool {
        matches!(self.0.load(Ordering::Relaxed), BEGINS | LOOKS)
    }

    /// The thread's next step.
    pub(super) fn next(&self) -> Next {
        match self.0.compare_exchange(BEGINS, LOOKS, Ordering::Relaxed, Ordering::Acquire) {
            Ok(_) => Next::Begin,
            Err(RESTS) => Next::Rest,
            Err(LOOKS) => Next::Look,
            Err(_) => Next::End,
        }
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    /// The control thread as it is, except that a look itself withdraws the wish for more.
    fn look(requests: &Requests) -> usize {
        let mut begun = 0;
        loop {
            match requests.next() {
                Next::Rest => thread::park(),
                Next::Begin => {
                    begun += 1;
                    requests.rest();
                }
                Next::Look => unreachable!("the first look was the last"),
                Next::End => return begun,
            }
        }
    }

    #[test]
    fn a_thread_begins_for_each_request_that_it_finds_and_ends() {
        loom::model(|| {
            let requests = Arc::new(Requests::default());
            let other = requests.clone();
            let thread = thread::spawn(move || look(&other));
            assert!(requests.ask());
            thread.thread().unpark();
            // Fails if the thread has not seen the end of the first request yet.
            let again = requests.ask();
            thread.thread().unpark();
            while requests.is_asked() {
                thread::yield_now();
            }
            requests.end();
            thread.thread().unpark();
            assert_eq!(thread.join().unwrap(), 1 + usize::from(again));
        });
    }

    #[test]
    fn a_request_that_is_taken_back_may_be_made_again() {
        loom::model(|| {
            let requests = Arc::new(Requests::default());
            let other = requests.clone();
            let thread = thread::spawn(move || {
                // Two readings, however the others fall between them.
                [other.next(), other.next()]
            });
            requests.ask();
            requests.rest();
            requests.ask();
            let found = thread.join().unwrap();
            assert!(found != [Next::Look; 2], "the first look of a request is told apart: {found:?}");
        });
    }
}
