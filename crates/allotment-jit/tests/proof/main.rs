//! The emitted code against the library, against formulas, and against what its documentation says.
//!
//! Code runs in two ways: on the processor, in the frame of a [`machine`] that sets and reads every register, and in an
//! [`interpreter`] that writes down each prefetch and each call and knows nothing of the emitter. What is expected comes from
//! the library's own path, or is written down here a second time. One test program, so that the parts share these.

mod barriers;
mod emitted;
mod interpreter;
mod kit;
mod library;
mod listings;
mod machine;
mod pages;
mod prefetch;
mod program;
mod refusals;
mod registers;
mod same_heap;
mod stack_maps;
mod threads;
