//! A Lisp whose every value lives in the heap: `cargo run --release --example lisp -- FILE`.
//!
//! `docs/tutorial` builds it, from an empty crate, step by step.
#![forbid(unsafe_code)]
#![allow(unreachable_pub, reason = "a program has no public interface; `pub` says what other modules use")]

mod blocks;
mod builtins;
mod code;
mod command;
mod compiler;
mod equality;
mod fault;
mod forms;
mod lisp;
mod machine;
mod numbers;
mod printer;
mod reader;
mod session;
mod templates;
mod value;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut input = std::io::BufReader::new(std::io::stdin());
    let mut out = std::io::BufWriter::new(std::io::stdout());
    let arguments = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    ExitCode::from(command::command(arguments, &mut input, &mut out, &mut std::io::stderr()))
}
