//! Command lines of `allotment`: words, one a line, and the grid that they choose.
#![no_main]

use allotment_lab::command::{Command, parse};
use allotment_lab::experiments;
use allotment_lab::harness::expand;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let words = ["allotment"].into_iter().chain(text.lines()).map(Into::into);
    let experiments = experiments::all();
    if let Ok(Command::Run(arguments)) = parse(words, experiments) {
        let _ = expand(experiments, &arguments.selection(), 2);
    }
});
