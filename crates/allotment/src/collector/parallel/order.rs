//! What the thread that looks for idle times shall do, and how it learns of it.
//!
//! ```text
//! rests --ask--> begins --next--> looks
//!   ^--------rest--'----------------'        anything --end--> ends
//! ```
//!
//! The thread parks while it rests; who asks or ends changes the order first and unparks it then. A new order is one although the thread
//! saw nothing of the rest before it. Refused: a condition with a lock, which mutators that find eden full and stoppers
//! would take: the lock of the registry, which a look takes for some microseconds, is enough.

use crate::sync::{AtomicU8, Ordering};

/// The order. Written by mutators (ask, rest), in the stopped world (rest), by the thread (what it begins), and by who drops the
/// collector, last of all (end). Relaxed: it is about nothing else; the end brings what was done before.
#[derive(Default)]
pub(super) struct Order(AtomicU8);

const RESTS: u8 = 0;
const BEGINS: u8 = 1;
const LOOKS: u8 = 2;
const ENDS: u8 = 3;

/// What to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Park.
    Rest,
    /// Look, for the first time since this was asked for.
    Begin,
    /// Look again.
    Look,
    /// Return.
    End,
}

impl Order {
    /// Asks for looks, of a thread that rests; `false`: it does not.
    pub(super) fn ask(&self) -> bool {
        self.0.compare_exchange(RESTS, BEGINS, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// No look is wanted any more. Not while somebody ends it.
    pub(super) fn rest(&self) {
        self.0.store(RESTS, Ordering::Relaxed);
    }

    /// No look will ever be wanted.
    pub(super) fn end(&self) {
        self.0.store(ENDS, Ordering::Release);
    }

    /// Whether looks are wanted.
    pub(super) fn is_asked(&self) -> bool {
        matches!(self.0.load(Ordering::Relaxed), BEGINS | LOOKS)
    }

    /// What the thread shall do.
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

    /// The thread as it is, but that a look is what ends the wish for more.
    fn look(order: &Order) -> usize {
        let mut begun = 0;
        loop {
            match order.next() {
                Next::Rest => thread::park(),
                Next::Begin => {
                    begun += 1;
                    order.rest();
                }
                Next::Look => unreachable!("the first look was the last"),
                Next::End => return begun,
            }
        }
    }

    #[test]
    fn who_looks_begins_for_each_order_that_it_finds_and_ends() {
        loom::model(|| {
            let order = Arc::new(Order::default());
            let other = order.clone();
            let thread = thread::spawn(move || look(&other));
            assert!(order.ask());
            thread.thread().unpark();
            // The first is not seen to be over: then there is none to begin.
            let again = order.ask();
            thread.thread().unpark();
            while order.is_asked() {
                thread::yield_now();
            }
            order.end();
            thread.thread().unpark();
            assert_eq!(thread.join().unwrap(), 1 + usize::from(again));
        });
    }

    #[test]
    fn an_order_that_is_taken_back_may_be_given_again() {
        loom::model(|| {
            let order = Arc::new(Order::default());
            let other = order.clone();
            let thread = thread::spawn(move || {
                // Two readings, however the others fall between them.
                [other.next(), other.next()]
            });
            order.ask();
            order.rest();
            order.ask();
            let found = thread.join().unwrap();
            assert!(found != [Next::Look; 2], "the first look of an order is told apart: {found:?}");
        });
    }
}
