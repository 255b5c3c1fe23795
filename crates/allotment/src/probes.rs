//! Probes of the kernel's tracers (USDT), behind the feature `usdt`: `bpftrace`, `perf` and
//! SystemTap attach to them while the program runs.
//!
//! A probe that nobody attached to is a `nop` and the moves that put its arguments where the tracer
//! finds them. So probes stand in slow paths only, and the fast path has none. A note in the file's
//! section `.note.stapsdt` says where each is. Refused: semaphores, which say whether somebody is
//! attached. A test of one costs more than the moves.
//!
//! | probe | arguments |
//! |---|---|
//! | `collection_begin` | |
//! | `collection_end` | its number, its kind (0 young, 1 full, 2 concurrent, 3 degenerated), ns of its pauses, bytes used before, after |
//! | `phase_begin` | address and length of its name |
//! | `phase_end` | the same, and its ns |
//! | `stall_begin` | 0: there was no room, 1: the program asked for a collection, 2: another cause |
//! | `stall_end` | the same, and its ns |
//! | `buffer_refill` | bytes of the new buffer |
//! | `region_taken` | the region's index |
//! | `sample` | bytes of the sampled object |

/// `probe!(name, argument, ...)`: a probe with this name. Without the feature, nothing.
#[cfg(feature = "usdt")]
macro_rules! probe {
    ($name:ident $(, $argument:expr)* $(,)?) => { ::probe::probe!(allotment, $name $(, $argument)*) };
}

/// Without the feature `usdt`: looks at the types of the arguments, and computes nothing.
#[cfg(not(feature = "usdt"))]
macro_rules! probe {
    ($name:ident $(, $argument:expr)* $(,)?) => {
        if false {
            $(let _ = $argument;)*
        }
    };
}

pub(crate) use probe;
