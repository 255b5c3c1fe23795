//! Address space and facts about the machine: the base of the heap.
//!
//! This is the lowest layer. It hands out address space and describes the machine. It does not know
//! objects, regions or allocating threads:
//!
//! - [`Reservation`] is one range of addresses: reserve, commit, uncommit, huge pages, pre-touch;
//! - [`page_size`], [`huge_page_size`] and [`transparent_huge_pages`] describe the pages;
//! - [`limit`] gives the memory that this process may use, and the heap size that follows from it;
//! - [`topology`] gives the CPUs that this process may use and the caches that they share;
//! - `ProcessMark` tells a child of `fork()` that it is one; `OwnThread` writes a file or answers
//!   callers;
//! - `LocalListener` is a socket that other processes of the same user call;
//! - `Clock` gives a heap the time for its decisions;
//! - [`Processor`] describes the processor; [`PrefetchSettings`] say what generated code prefetches
//!   on it;
//! - [`prefetch_read`], [`prefetch_write`] and [`write_word_and_zeroes`] are instructions of the
//!   allocation path.
//!
//! All sizes in this layer are bytes. Most platform-dependent code is here; ARCHITECTURE.md names
//! the files. All reads from `/proc` and `/sys` go through a root directory, which tests replace by
//! their own tree.

mod clock;
mod error;
mod hook;
pub(crate) mod limit;
mod linux;
mod local_socket;
mod own_thread;
mod pages;
mod prefetch_settings;
mod pretouch;
mod private_folder;
mod process_mark;
mod processor;
mod reservation;
mod standard_error;
pub(crate) mod topology;
mod x86_64;

pub(crate) use clock::{Clock, ClockHook};
pub use error::{MemoryError, Operation};
pub(crate) use hook::{in_hook, is_in_hook};
#[cfg(all(test, not(loom)))]
pub(crate) use linux::own_cpus;
pub(crate) use linux::{
    CodeFile, Pointers, SystemThread, can_advise_huge_pages, code_files, current_cpu, find_loaded_types,
    is_first_thread, own_stack, run_on_cpus,
};
pub use local_socket::{AttachListenerError, call_socket, socket_peer};
pub(crate) use local_socket::{Connection, LocalListener, NoLine};
pub(crate) use own_thread::OwnThread;
pub use pages::{huge_page_size, page_size, transparent_huge_pages};
pub use prefetch_settings::{PrefetchError, PrefetchInstruction, PrefetchSettings, PrefetchStyle};
pub use private_folder::{listening_name, parse_socket_name, sockets_in_runtime, sockets_in_tmp};
pub(crate) use process_mark::ProcessMark;
pub use processor::{Processor, Vendor};
pub use reservation::Reservation;
pub(crate) use standard_error::{abort_because, tell};
#[cfg(not(any(miri, loom)))]
pub(crate) use x86_64::is_above_word;
pub use x86_64::write_word_and_zeroes;
pub(crate) use x86_64::{
    PopulationCount, all_64_are, copy_short, copy_two_pairs, frame_pointer, load_eight, prefetch_read,
    prefetch_write, store_eight, write_word_and_any_zeroes,
};
