//! Sequences for AArch64.
//!
//! ```text
//! allocation   ldp, add, cmp, b.hi, str header, str top         6, and the header's constant
//! load         ldrb, tst, b.ne, ldr                             4
//! store        add, ldrb, tst, b.ne, stlr, ldr, add, mov, stlrb 9, without a displacement 8
//! poll         ldr, cbnz                                        2
//! ```
//!
//! A processor of AArch64 may show stores to other threads in another order. So a reference is
//! stored with release, after the words of its object, and the card after the reference, with release
//! too. An exchange has acquire and release. Stores to a new object are plain. Loads of references
//! are plain, too: what is read through a reference depends on its address.
//!
//! x16 and x17 are the sequences' own, since no call keeps them. The link register is kept over each
//! call. The stack pointer is always a multiple of 16.
//!
//! Hot parts jump to their cold parts by `b.cond` and `cbnz`, so the cold part lies within 1 MiB.
//! Calls and the jump to the outside take their address from a literal, so they reach any address.
//!
//! Refused: `tbnz` for the test of one barrier. It saves an instruction, but reaches 32 KiB, and a
//! function may be longer than that.
//!
//! Lowest first:
//!
//! ```text
//! assembler                          the encoder, for one part of a sequence
//! assembly, listing                  the two parts, put together; code as text
//! top, slow, initialise              the new top, calls out of line, headers and bodies
//! prefetch, past_buffers             prefetches; the allocation without a buffer
//! allocate, barriers, polls          the sequences
//! ```

mod allocate;
mod assembler;
mod assembly;
mod barriers;
mod initialise;
mod listing;
mod past_buffers;
mod polls;
mod prefetch;
mod slow;
mod top;

pub(crate) use allocate::allocate;
pub(crate) use barriers::{compare_exchange, load, store};
pub(crate) use listing::{decoded, literal};
pub(crate) use polls::poll;
