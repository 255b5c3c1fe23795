//! Functions that Cranelift compiled, on heaps that move every object at every allocation.

mod barriers;
mod concurrent;
mod kit;
mod library;
mod linked;
mod modules;
mod room;
mod threads;
