//! Probes of the kernel's tracers (USDT), with the feature `usdt`: `bpftrace`, `perf` and SystemTap
//! attach to them while the program runs.
//!
//! A probe without a tracer costs a `nop` and the moves of its arguments. So there are probes in
//! slow paths only, not in the fast path. A note in the file's section `.note.stapsdt` says where
//! each probe is. Refused: semaphores, which say whether a tracer is attached. A test of one costs
//! more than the moves.
//!
//! | probe | arguments |
//! |---|---|
//! | `collection_begin` | |
//! | `collection_end` | its number, its kind (0 young, 1 full, 2 concurrent, 3 degenerated), ns of its pauses, bytes used before, after |
//! | `phase_begin` | address and length of its name |
//! | `phase_end` | address and length of its name, and its ns |
//! | `stall_begin` | 0: there was no room, 1: the program asked for a collection, 2: another cause |
//! | `stall_end` | the number of `stall_begin`, and its ns |
//! | `buffer_refill` | bytes of the new buffer |
//! | `region_taken` | the region's index |
//! | `sample` | bytes of the sampled object |

/// `probe!(name, argument, ...)`: a probe with this name. Without the feature it emits nothing.
#[cfg(feature = "usdt")]
macro_rules! probe {
    ($name:ident $(, $argument:expr)* $(,)?) => { ::probe::probe!(allotment, $name $(, $argument)*) };
}

/// Without the feature `usdt`: checks the types of the arguments, and computes nothing.
#[cfg(not(feature = "usdt"))]
macro_rules! probe {
    ($name:ident $(, $argument:expr)* $(,)?) => {
        if false {
            $(let _ = $argument;)*
        }
    };
}

pub(crate) use probe;
