// The modules of `examples/lisp`, for the tests that are compiled with them.

#[path = "../../../../examples/lisp/blocks.rs"]
mod blocks;
#[path = "../../../../examples/lisp/builtins/mod.rs"]
mod builtins;
#[path = "../../../../examples/lisp/code.rs"]
mod code;
#[path = "../../../../examples/lisp/command.rs"]
mod command;
#[path = "../../../../examples/lisp/compiler.rs"]
mod compiler;
#[path = "../../../../examples/lisp/equality.rs"]
mod equality;
#[path = "../../../../examples/lisp/fault.rs"]
mod fault;
#[path = "../../../../examples/lisp/forms.rs"]
mod forms;
#[path = "../../../../examples/lisp/lisp.rs"]
mod lisp;
#[path = "../../../../examples/lisp/machine.rs"]
mod machine;
#[path = "../../../../examples/lisp/numbers.rs"]
mod numbers;
#[path = "../../../../examples/lisp/printer.rs"]
mod printer;
#[path = "../../../../examples/lisp/reader.rs"]
mod reader;
#[path = "../../../../examples/lisp/session.rs"]
mod session;
#[path = "../../../../examples/lisp/templates.rs"]
mod templates;
#[path = "../../../../examples/lisp/value.rs"]
mod value;
