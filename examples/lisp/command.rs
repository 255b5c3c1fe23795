//! The command line.

use crate::fault::Fault;
use crate::lisp::Lisp;
use crate::session;
use allotment::Heap;
use std::io::{BufRead, Write};

pub const USAGE: &str = "\
usage: lisp [--heap SIZE] [--options LIST] [--zeal [N]] [FILE ...]

Runs the files, one after the other, in one Lisp; without files, a prompt.

  --heap SIZE     the heap's size, as in 64m (256m)
  --options LIST  options of the heap, as in TLABSize=64k,-ResizeTLAB
  --zeal [N]      looks for errors: collects at every Nth allocation (1000), moves every object each
                  time, fills what is freed, checks the whole heap before and after";

/// The options that `--zeal` sets, except the interval.
const ZEAL: &str = "+ZealMove,+ZealPoison,+VerifyBeforeGC,+VerifyAfterGC";

/// The requests of the command line.
struct Arguments {
    heap: String,
    options: Vec<String>,
    files: Vec<String>,
}

fn parse(arguments: impl Iterator<Item = String>) -> Result<Arguments, Fault> {
    let mut parsed = Arguments { heap: "256m".to_string(), options: Vec::new(), files: Vec::new() };
    let mut arguments = arguments.peekable();
    while let Some(argument) = arguments.next() {
        let number = arguments.next_if(|next| argument == "--zeal" && next.parse::<u32>().is_ok());
        let mut value = || arguments.next().ok_or_else(|| Fault::new(format!("{argument} needs a value")));
        match &*argument {
            "--heap" => parsed.heap = value()?,
            "--options" => parsed.options.push(value()?),
            "--zeal" => {
                let interval = number.as_deref().unwrap_or("1000");
                parsed.options.push(format!("ZealInterval={interval},{ZEAL}"));
            }
            option if option.starts_with("--") => {
                return Err(Fault::new(format!("no option {option}\n{USAGE}")));
            }
            _ => parsed.files.push(argument),
        }
    }
    Ok(parsed)
}

/// Executes the command line. Returns the exit code.
pub fn command(
    arguments: impl Iterator<Item = String>,
    input: &mut (dyn BufRead + Send),
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> u8 {
    let result = parse(arguments).and_then(|arguments| execute(&arguments, input, out));
    let flushed = out.flush().map_err(|error| Fault::new(format!("cannot write: {error}")));
    match result.and(flushed) {
        Ok(()) => 0,
        Err(fault) => {
            // If even this write fails, the exit code says enough.
            let _ = writeln!(err, "{fault}");
            1
        }
    }
}

fn execute(
    arguments: &Arguments,
    input: &mut (dyn BufRead + Send),
    out: &mut dyn Write,
) -> Result<(), Fault> {
    let wrong = |error: &dyn std::error::Error| Fault::new(error.to_string());
    let mut builder = Heap::builder();
    for options in [&format!("MaxHeapSize={}", arguments.heap)].into_iter().chain(&arguments.options) {
        builder = builder.options(options).map_err(|error| wrong(&error))?;
    }
    let heap = builder.build().map_err(|error| wrong(&error))?;
    let mut texts = Vec::new();
    for file in &arguments.files {
        let text = std::fs::read_to_string(file).map_err(|error| Fault::new(format!("{file}: {error}")))?;
        texts.push((file, text));
    }
    let session = heap.attach(|mu| {
        let mut lisp = Lisp::new(mu, out)?;
        session::start(mu, &mut lisp)?;
        for (file, text) in &texts {
            session::load(mu, &mut lisp, text, file)?;
        }
        if texts.is_empty() { session::prompt(mu, &mut lisp, input) } else { Ok(()) }
    });
    session.map_err(|error| wrong(&error))?
}
