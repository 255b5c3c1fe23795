//! `allotment ask`: questions to the heaps of a program that runs, as `jcmd` and `asprof` ask a JVM.
//!
//! The program runs with `StartAttachListener`. `allotment::internals::attach` has the protocol,
//! and says why it is so; here is the caller's side: which process, which heap, where the answer
//! goes.

mod conversation;
mod processes;

use allotment::internals::attach::Question;
use allotment::stats::{SnapshotFormat, SnapshotSettings};
use allotment_report::command::Interrupt;
use allotment_report::command::{Failure, print};
use allotment_report::format::number::parse_size;
use allotment_report::format::{OutputFile, printable};
use processes::{ListeningHeap, is_called};
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Which heap of which process is asked what.
#[derive(Clone, Debug, clap::Args)]
pub struct AskArguments {
    /// The number of the process [default: list the processes that can be asked].
    #[arg(value_name = "PID")]
    pub process: Option<u32>,

    /// Ask the heap with this name; a process with one heap needs no name.
    #[arg(long, value_name = "NAME", global = true)]
    pub heap: Option<String>,

    /// Write the answer to this file; `-` is standard output. A snapshot or a profile needs it
    /// [default: standard output].
    #[arg(long, value_name = "FILE", global = true)]
    pub to: Option<PathBuf>,

    /// The question.
    #[command(subcommand)]
    pub question: Option<AskQuestion>,
}

/// A question.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum AskQuestion {
    /// Print the collector, the sizes and the regions.
    Heap,
    /// Print what each attached thread does, and what it allocated.
    Threads,
    /// Print the metrics for monitoring.
    Metrics,
    /// Print the options in force, and where they come from.
    Options,
    /// Collect all garbage now.
    Gc,
    /// Print the live objects by shape. The program is stopped meanwhile.
    Census {
        /// Also print the bytes that each shape retains; this takes memory in the program.
        #[arg(long)]
        retained: bool,
    },
    /// Write a snapshot of all live objects. The program is stopped meanwhile.
    Snapshot {
        /// The form of the file.
        #[arg(long, value_name = "FORM", default_value = "heapsnapshot")]
        format: SnapshotForm,

        /// Write the first N bytes of each text; texts may be secrets.
        #[arg(long, value_name = "N", default_value_t = 0)]
        string_bytes: usize,
    },
    /// Write an allocation profile in pprof's form: of all allocations so far, or of the next seconds.
    Profile {
        /// Sample allocations for N seconds, even if the program samples nothing.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=86_400))]
        seconds: Option<u64>,

        /// Meanwhile sample once in this many bytes on average, such as 64k [default: as the program
        /// does, or 512k].
        #[arg(long, value_name = "SIZE", value_parser = interval, requires = "seconds")]
        interval: Option<u64>,
    },
}

/// The forms of snapshots.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum SnapshotForm {
    /// V8's .heapsnapshot: Chrome, VS Code, memlab, `allotment heap`.
    Heapsnapshot,
    /// HPROF: Eclipse MAT, VisualVM, `allotment heap`.
    Hprof,
}

fn interval(text: &str) -> Result<u64, String> {
    let bytes = parse_size(text)?;
    if bytes == 0 { Err("0 samples nothing".into()) } else { Ok(bytes) }
}

impl AskQuestion {
    fn question(&self) -> Question {
        match *self {
            AskQuestion::Heap => Question::Heap,
            AskQuestion::Threads => Question::Threads,
            AskQuestion::Metrics => Question::Metrics,
            AskQuestion::Options => Question::Options,
            AskQuestion::Gc => Question::Gc,
            AskQuestion::Census { retained } => Question::Census { retained },
            AskQuestion::Snapshot { format, string_bytes } => {
                let format = match format {
                    SnapshotForm::Heapsnapshot => SnapshotFormat::HeapSnapshot,
                    SnapshotForm::Hprof => SnapshotFormat::Hprof,
                };
                Question::Snapshot(SnapshotSettings::default().format(format).string_bytes(string_bytes))
            }
            AskQuestion::Profile { seconds, interval } => {
                Question::Profile { seconds, interval: interval.map(|bytes| bytes as usize) }
            }
        }
    }

    /// The end of the name of a file that fits the answer.
    fn ending(&self) -> Option<&'static str> {
        match self {
            AskQuestion::Snapshot { format: SnapshotForm::Heapsnapshot, .. } => Some("heapsnapshot"),
            AskQuestion::Snapshot { format: SnapshotForm::Hprof, .. } => Some("hprof"),
            AskQuestion::Profile { .. } => Some("pb.gz"),
            _ => None,
        }
    }
}

/// Asks, and prints or writes the answer.
///
/// # Errors
/// [`Failure::Usage`] if the question is incomplete. [`Failure::Failed`] if there is no such
/// process, it does not listen, it refuses, it ends meanwhile, or the file cannot be written.
/// [`Failure::Interrupted`] if the user interrupts it; nothing is left of a file then.
pub(super) fn ask(arguments: &AskArguments) -> Result<(), Failure> {
    let (process, question) = match (arguments.process, &arguments.question) {
        (Some(process), Some(question)) => (process, question),
        (None, None) if arguments.heap.is_none() && arguments.to.is_none() => return list(),
        (None, _) => {
            let usage =
                "no process was given; write allotment ask PID QUESTION, and allotment ask to list processes";
            return Err(Failure::Usage(usage.into()));
        }
        (Some(_), None) => {
            let usage = "no question was given; write allotment ask PID with heap, threads, metrics, options, gc, \
                         census, snapshot or profile";
            return Err(Failure::Usage(usage.into()));
        }
    };
    let to = match (&arguments.to, question.ending()) {
        (None, Some(ending)) => {
            let usage = format!("no file was given; write --to NAME.{ending}, or --to - for standard output");
            return Err(Failure::Usage(usage));
        }
        (to, _) => to.as_deref(),
    };
    let wanted = arguments.heap.as_deref();
    let heap = chosen(process, processes::heaps_of(process, wanted)?, wanted)?;
    // Before the program is disturbed, so that a path that cannot be written fails now.
    let output = to.map(OutputFile::open).transpose()?;
    let interrupt = Interrupt::install()?;
    let question_sent = question.question();
    match (output, to) {
        (Some(output), Some(to)) if question.ending().is_some() => {
            let said =
                output.fill(|file| conversation::hold(heap, &question_sent, Some(file), &interrupt))?;
            told(to, &said)
        }
        (output, _) => {
            let text = conversation::hold(heap, &question_sent, None, &interrupt)?;
            match output {
                Some(output) => Ok(output.write(text.as_bytes())?),
                None => print(&text),
            }
        }
    }
}

/// Tells what is in a file that was written. Standard output may be the file.
fn told(to: &Path, said: &str) -> Result<(), Failure> {
    if to.as_os_str() == "-" {
        // If standard error is closed, nobody wants to know.
        let _ = io::stderr().write_all(printable(said).as_bytes());
        return Ok(());
    }
    print(&format!("{}: {said}", to.display()))
}

/// The heap that is meant.
fn chosen(process: u32, mut heaps: Vec<ListeningHeap>, name: Option<&str>) -> Result<ListeningHeap, Failure> {
    let names =
        |heaps: &[ListeningHeap]| heaps.iter().map(|heap| heap.name.as_str()).collect::<Vec<_>>().join(", ");
    match name {
        Some(name) => {
            let all = names(&heaps);
            // How it is listed goes first: a long name with a number has the cut name of another.
            let place = heaps.iter().position(|heap| heap.name == name);
            let place = place.or_else(|| heaps.iter().position(|heap| is_called(&heap.name, name)));
            place.map(|place| heaps.swap_remove(place)).ok_or_else(|| {
                Failure::Failed(format!("process {process} has no heap `{name}` that listens; it has {all}"))
            })
        }
        None if heaps.len() > 1 => Err(Failure::Usage(format!(
            "process {process} has {} heaps that listen; choose one with --heap: {}",
            heaps.len(),
            names(&heaps)
        ))),
        None => Ok(heaps.remove(0)),
    }
}

/// Lists the processes that can be asked.
fn list() -> Result<(), Failure> {
    let heaps = processes::all();
    if heaps.is_empty() {
        return print(&format!("no process listens; {}\n", processes::HOW_TO_LISTEN));
    }
    let mut text = format!("{:>9}  {:<24}  command\n", "process", "heap");
    for heap in heaps {
        let _ =
            writeln!(text, "{:>9}  {:<24}  {}", heap.process, heap.name, processes::command_of(heap.process));
    }
    print(&text)
}
