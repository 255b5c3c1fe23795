//! A heap that is not kept alive.
//!
//! A thread of the heap's own holds one: with a clone of the heap it would keep the heap alive
//! forever.

use super::Heap;
use crate::collector::History;
use crate::mutator::Shared;
use crate::options::OptionSet;
use std::sync::{Arc, Weak};

/// A heap that is not kept alive.
pub(crate) struct WeakHeap {
    shared: Weak<Shared>,
    options: Arc<OptionSet>,
    history: Arc<History>,
}

impl WeakHeap {
    /// The heap, kept alive for now; `None` after its end. The heap writes no files at its
    /// end: the last clone did.
    pub(crate) fn upgrade(&self) -> Option<Heap> {
        let (shared, options, history) = (self.shared.upgrade()?, self.options.clone(), self.history.clone());
        Some(Heap { shared, options, history, at_end: None })
    }
}

impl Heap {
    pub(crate) fn downgrade(&self) -> WeakHeap {
        let (options, history) = (self.options.clone(), self.history.clone());
        WeakHeap { shared: Arc::downgrade(&self.shared), options, history }
    }
}
