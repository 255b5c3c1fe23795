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

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod clock;
mod error;
mod hook;
pub(crate) mod limit;
mod linux;
mod local_socket;
#[cfg(all(test, not(loom), not(miri)))]
mod looks_tests;
#[cfg(all(test, not(loom)))]
mod machine_tests;
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
#[cfg(target_arch = "x86_64")]
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
pub use processor::{AArch64, Processor, Vendor, X86_64};
pub use reservation::Reservation;
pub(crate) use standard_error::{abort_because, tell};

// The machine, chosen here and nowhere else. Both have the same names.
#[cfg(target_arch = "aarch64")]
use aarch64 as machine;
#[cfg(target_arch = "x86_64")]
use x86_64 as machine;
#[cfg(not(all(
    target_os = "linux",
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
compile_error!(
    "allotment runs on Linux, on x86-64 or AArch64 with 64-bit addresses: docs/platforms.md says how to port it"
);

#[cfg(target_arch = "aarch64")]
pub(crate) use machine::HAS_LONG_VECTORS;
#[cfg(not(any(miri, loom)))]
pub(crate) use machine::bump_below;
pub(crate) use machine::entries::{
    barrier_entry, call_barrier_entry, call_load_entry, call_store_entry, generated_entry,
};
pub use machine::write_word_and_zeroes;
pub(crate) use machine::{
    LOADS_ACQUIRE, PopulationCount, all_64_are, copy_short, copy_two_pairs, exchange_unread, frame_pointer,
    load_eight, load_reference, prefetch_read, prefetch_write, store_eight, write_word_and_any_zeroes,
};
