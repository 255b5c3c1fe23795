//! Machine code that allocates from an [`allotment`] heap, for compilers: x86-64.
//!
//! A compiler can inline the library's fast path: load the top, add, compare with the limit, store
//! the top, write the header. This crate emits that sequence for an object's header and size, with
//! HotSpot's `AllocatePrefetch` settings built in. It also emits the parts that belong to it: the
//! slow path's call, the write barrier, loads of references, safepoint polls.
//!
//! | to | use |
//! |---|---|
//! | call a function that allocates | [`Emitter::stub`], [`CodeBuffer`] |
//! | paste the sequence into a compiler's own code | [`Emitter::allocate`], [`Sequence::link`] |
//! | store, load | [`Emitter::store`], [`Emitter::load`], [`Emitter::load_weak`] |
//! | exchange, poll | [`Emitter::compare_exchange`], [`Emitter::poll`] |
//! | read the emitted code | [`Sequence::lines`]; of other code, [`disassemble`] |
//! | see it in `perf report` | [`Code::publish`] |
//! | build the sequences with Cranelift | the module `cranelift`, with the feature of that name |
//!
//! The code finds a thread's buffer through the address of its [`Hot`](allotment::raw::Hot) part,
//! and calls the heap through [`GeneratedCalls`](allotment::raw::GeneratedCalls). A slow path may
//! be a safepoint, at which objects move: the references that the program holds must then be roots.
//! [`Sequence::safepoints`] gives the return addresses of the calls. A
//! [`RootProvider`](allotment::raw::RootProvider) learns where each thread called from, and looks
//! up the address.

// The files, lowest first. `.ci/layers` reads the list:
//
// ```text
// debug, perf_map                 errors as text, names for profilers
// error                           what cannot be emitted
// registers, allocation           registers of a sequence, the object that it allocates
// sequence                        code to paste
// assembly                        the two parts of a sequence, put together
// emitter, listing, code          sequences made, shown, and run
// cranelift                       the same allocations in Cranelift's form
// ```

#[cfg(not(target_arch = "x86_64"))]
compile_error!("allotment-jit makes code for x86-64 alone: build it for that machine");

mod allocation;
mod assembly;
mod code;
#[cfg(feature = "cranelift")]
pub mod cranelift;
mod debug;
mod emitter;
mod error;
mod listing;
mod perf_map;
mod registers;
mod sequence;

pub use allocation::{Allocation, Initialise, MAX_INLINE_BYTES};
pub use code::{Code, CodeBuffer, CodeError, Function, FunctionId};
pub use emitter::{CompareExchange, Emitter, Load, LoadHook, Poll, Site, SlowCall, Store};
pub use error::EmitError;
pub use iced_x86::Register;
pub use listing::{Disassembled, Line, disassemble};
pub use perf_map::PerfMap;
pub use registers::Registers;
pub use sequence::{Note, Part, Relocation, RelocationKind, Safepoint, Sequence, Target};
