//! The emitted code against the library, against formulas, and against its documentation.
//!
//! Code runs in two ways: on the processor, in the frame of a [`machine`] that sets and reads every
//! register, and in an [`interpreter`] that records each prefetch and each call and does not know
//! the emitter. The expected result comes from the library's own path, or is written down here a
//! second time. All parts are one test program, so that they share these tools.

mod barrier_steps;
mod barriers;
mod cycles;
mod emitted;
mod interpreter;
mod kit;
mod library;
mod listings;
mod machine;
mod pages;
mod past_buffers;
mod prefetch;
mod program;
mod refusals;
mod registers;
mod same_heap;
mod stack_maps;
mod threads;
