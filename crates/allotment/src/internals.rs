//! The names below the public API that the other crates of this workspace need.
//!
//! Everything here serves a measurement, a simulation or a reader of files that must decide exactly
//! as the heap does. The module is hidden from the documentation and promises no stability. It is
//! one list of names, and the layers are private, so the compiler still warns of code that nobody
//! calls. Refused: a feature that opens the layers. The library that the lab measures would be
//! another build than the library that programs embed.

/// The machine, as a heap sees it.
pub mod platform {
    pub use crate::platform::limit::available_memory;
    pub use crate::platform::topology::{Cache, CacheKind, Cpu, Topology};
    pub use crate::platform::{
        Reservation, huge_page_size, page_size, transparent_huge_pages, write_word_and_zeroes,
    };
}

/// The sizes of buffers, and the budget of idle ones.
pub mod tlab {
    pub use crate::tlab::budget::{Budget, CensusEntry, Settlement};
    pub use crate::tlab::sizing::{Averages, Config, Cycle, HeapCycle, Request, Settings, Sizing};
}

/// When Shenandoah starts a cycle, and which regions the cycle evacuates.
pub mod shenandoah {
    pub use crate::collector::shenandoah::choose::{
        Candidate, ChooseSettings, FreeMemory, choose, reserve_regions,
    };
    pub use crate::collector::shenandoah::trigger::{CycleKind, Ended, Trigger, TriggerSettings};
}

/// Questions to a running program, and the sockets that take them.
pub mod attach {
    pub use crate::observe::attach::{Answer, AnswerError, Question};
    pub use crate::platform::{
        call_socket, listening_name, parse_socket_name, socket_peer, sockets_in_runtime, sockets_in_tmp,
    };
}

/// The graph of a snapshot's objects, and who dominates whom.
pub mod snapshot {
    pub use crate::observe::{Dominators, Graph, NONE};
}
