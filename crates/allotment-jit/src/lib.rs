//! Machine code that allocates from an [`allotment`] heap, for compilers: x86-64 and AArch64.
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
//! | emit for the machine that this is not | [`Emitter::new`] with its [`Processor`](allotment::raw::Processor) |
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
// register                        machines and their registers
// error                           what cannot be emitted
// relocation, disassembled        references of code, instructions as text
// registers, allocation           registers of a sequence, the object that it allocates
// site                            places that allocate or poll
// barrier                         accesses with a barrier
// sequence                        code to paste
// x86_64, aarch64                 the code of a machine
// emitter, listing                sequences made, and shown
// caches                          code made visible to instruction fetch
// code                            sequences that run
// cranelift                       the same allocations in Cranelift's form
// ```

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("allotment-jit makes code for x86-64 and AArch64: build it for one of them");

mod aarch64;
mod allocation;
mod barrier;
mod caches;
mod code;
#[cfg(feature = "cranelift")]
pub mod cranelift;
mod debug;
mod disassembled;
mod emitter;
mod error;
mod listing;
mod perf_map;
mod register;
mod registers;
mod relocation;
mod sequence;
mod site;
mod x86_64;

pub use allocation::{Allocation, Initialise, MAX_INLINE_BYTES};
pub use barrier::{CompareExchange, Load, LoadHook, Store};
pub use code::{Code, CodeBuffer, CodeError, Function, FunctionId};
pub use disassembled::Disassembled;
pub use emitter::Emitter;
pub use error::EmitError;
pub use listing::{Line, disassemble};
pub use perf_map::PerfMap;
pub use register::{Machine, Register};
pub use registers::Registers;
pub use relocation::{Jump, Part, Relocation, RelocationKind, Target};
pub use sequence::{Note, Safepoint, Sequence};
pub use site::{Poll, Site, SlowCall};
