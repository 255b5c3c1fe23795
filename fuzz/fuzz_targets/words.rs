//! Command lines of `allotment`: words, one a line; the grid that they choose, and the sizings to
//! replay.
#![no_main]

use allotment_lab::command::{Command, RunArguments, parse};
use allotment_lab::experiments;
use allotment_lab::harness::{Selection, expand};
use allotment_tools::command::Tools;
use allotment_tools::tlab_log::{Candidate, Replay, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let words = ["allotment"].into_iter().chain(text.lines()).map(Into::into);
    match parse(words, experiments::all()) {
        Ok(Command::Run(arguments)) => grid(&arguments),
        Ok(Command::Tools(Tools::TlabLog(arguments))) => replays(&arguments.replay.unwrap_or_default()),
        _ => {}
    }
});

/// The grid of the experiments named, as `run` makes it; but the full grid only of one, for that of
/// all of them takes seconds.
fn grid(arguments: &RunArguments) {
    let named = |name: &str| arguments.experiments.iter().any(|one| one == name || one == "all");
    let chosen = experiments::all().iter().copied().filter(|experiment| named(experiment.name));
    let chosen: Vec<_> = chosen.collect();
    let selection = arguments.selection();
    let _ = expand(&chosen, &Selection { full: selection.full && chosen.len() == 1, ..selection }, 2);
}

/// Replays a log, once the sizings are right.
fn replays(text: &str) {
    let Ok(list) = Candidate::list(text) else { return };
    let log = read(include_bytes!("../seeds/logs/zgc-25.log")).unwrap();
    let replay = Replay::new(&log.cycles, &Candidate::default(), 0);
    for candidate in list {
        replay.run(&candidate);
    }
}
