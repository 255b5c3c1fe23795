//! The questions: for each option the competing values, and the programs that measure them.
//!
//! All other values are compared with the first. For prefetch the first value is no prefetch,
//! whatever this processor's default. For the other options it is the heap's default.

use crate::experiments::options::DEFAULTS;
use crate::format::distinct;
use crate::format::number::size;
use crate::format::phrase::count;
use crate::harness::{Case, Experiment, JmhMode, TimeUnit};
use allotment::internals::platform::Topology;
use allotment::raw::{PrefetchSettings, PrefetchStyle, Processor};

/// A value that competes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Candidate {
    /// The readable form.
    pub(super) label: String,
    /// The value's text in the option list; empty for the heap's default.
    pub(super) options: String,
    /// The mode and the parameters that turn a program's case into one with this value.
    pub(super) mode: &'static str,
    pub(super) parameters: Vec<(&'static str, String)>,
}

/// A program that is measured, without the value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Program {
    /// The readable form.
    pub(super) label: String,
    pub(super) threads: usize,
    pub(super) parameters: Vec<(&'static str, String)>,
}

/// A question: which value is best?
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Question {
    /// The subject, in a word or two.
    pub(super) about: &'static str,
    pub(super) experiment: &'static str,
    pub(super) programs: Vec<Program>,
    /// The values; the others are compared with the first.
    pub(super) candidates: Vec<Candidate>,
}

impl Question {
    /// The case of a program with a value.
    pub(super) fn case(&self, program: &Program, candidate: &Candidate) -> Case {
        let parameters = program.parameters.iter().chain(&candidate.parameters);
        Case {
            experiment: self.experiment.into(),
            mode: candidate.mode.into(),
            jmh_mode: JmhMode::Throughput,
            unit: TimeUnit::Microseconds,
            threads: program.threads,
            params: parameters.map(|(name, value)| ((*name).into(), value.clone())).collect(),
        }
    }

    /// Every program with every value.
    pub(super) fn cases(&self) -> impl Iterator<Item = Case> {
        self.programs
            .iter()
            .flat_map(|program| self.candidates.iter().map(|candidate| self.case(program, candidate)))
    }
}

/// The cases of all questions, each once.
pub(super) fn cases(questions: &[Question]) -> Vec<Case> {
    distinct(questions.iter().flat_map(Question::cases))
}

/// The questions that this processor can answer, and a sentence for each of the others.
pub(super) fn for_processor(
    all: Vec<Question>,
    experiments: &[&Experiment],
    processor: Processor,
) -> (Vec<Question>, Vec<String>) {
    let (mut taken, mut left_out) = (Vec::new(), Vec::new());
    for question in all {
        let check = |case: Case| {
            Experiment::of(&case, experiments)
                .map_or(Ok(()), |experiment| experiment.check_processor(&case.mode, processor))
        };
        let checked = question.cases().try_for_each(check);
        match checked {
            Ok(()) => taken.push(question),
            Err(why) => left_out.push(format!("the question of {} left out: {why}", question.about)),
        }
    }
    (taken, left_out)
}

/// All questions, for a machine of which `threads` CPUs can be used.
pub(super) fn questions(topology: &Topology, processor: &Processor, threads: usize) -> Vec<Question> {
    let l2 = topology.l2_bytes().unwrap_or(1 << 20);
    let eden = |bytes: usize| format!("NewSize={0},MaxNewSize={0}", size(bytes as u64));
    // An eden that the caches hold, and edens that no cache holds.
    let edens = [(l2 * threads).next_power_of_two(), 16 << 20, 64 << 20].map(|bytes| bytes.max(1 << 20));
    vec![
        prefetch(processor, l2),
        of_options("buffer floor", threads, "", "16k", &["TLABSize=4k", "TLABSize=64k", "TLABSize=256k"]),
        of_options(
            "eden",
            threads,
            "",
            "as the heap chooses",
            &edens.map(eden).each_ref().map(String::as_str),
        ),
        of_options(
            "huge pages",
            threads,
            &eden(64 << 20),
            "+UseTransparentHugePages",
            &["-UseTransparentHugePages"],
        ),
        of_options(
            "zeroing",
            threads,
            "",
            "ZeroWindowSize=8k",
            &["ZeroWindowSize=2k", "ZeroWindowSize=32k", "+ZeroTLAB"],
        ),
    ]
}

/// A question about options of the heap. `beside` is set too.
fn of_options(about: &'static str, threads: usize, beside: &str, default: &str, values: &[&str]) -> Question {
    let set = |value: &str| match [beside, value]
        .iter()
        .filter(|part| !part.is_empty())
        .copied()
        .collect::<Vec<_>>()
    {
        parts if parts.is_empty() => DEFAULTS.to_owned(),
        // A comma separates values on the command line, where such a case may also come from.
        parts => parts.join(" ").replace(',', " "),
    };
    let candidate = |label: &str, options: &str| Candidate {
        label: label.into(),
        options: options.into(),
        mode: "mixed",
        parameters: vec![("set", set(options))],
    };
    let beside = if beside.is_empty() { String::new() } else { format!(", {beside}") };
    Question {
        about,
        experiment: "options",
        programs: vec![Program {
            label: format!("objects of 16 to 144 bytes, {}{beside}", count(threads, "thread")),
            threads,
            parameters: vec![("heap", (256_usize << 20).to_string())],
        }],
        candidates: std::iter::once(candidate(default, ""))
            .chain(values.iter().map(|value| candidate(value, value)))
            .collect(),
    }
}

fn prefetch(processor: &Processor, l2: usize) -> Question {
    let none = Candidate {
        label: "no prefetch".into(),
        options: if PrefetchSettings::recommended(processor).style == PrefetchStyle::None {
            String::new()
        } else {
            "AllocatePrefetchStyle=0".into()
        },
        mode: "none",
        parameters: Vec::new(),
    };
    let in_cache = (1_usize << (l2 / 2).max(1).ilog2()).max(64 << 10);
    let program = |size: usize, eden: usize, name: &str| Program {
        label: format!("{size} bytes, {name}"),
        threads: 1,
        parameters: vec![
            ("size", size.to_string()),
            ("eden", eden.to_string()),
            ("work", "0".into()),
            ("working-set", "0".into()),
        ],
    };
    let instruction = if processor.prefetches_for_writing() { ("w", 3) } else { ("t0", 1) };
    let settings = |style: usize, distance: usize, lines: usize, (name, number): (&str, usize)| Candidate {
        label: format!(
            "style {style}, distance {distance}, lines {}, {name}",
            if lines == 0 { "by size".into() } else { lines.to_string() }
        ),
        options: format!(
            "AllocatePrefetchStyle={style},AllocatePrefetchDistance={distance},AllocatePrefetchLines={lines},\
             AllocateInstancePrefetchLines={lines},AllocatePrefetchInstr={number}"
        ),
        mode: "ahead",
        parameters: vec![
            ("style", style.to_string()),
            ("distance", distance.to_string()),
            ("lines", lines.to_string()),
            ("step", "64".into()),
            ("instr", name.into()),
        ],
    };
    Question {
        about: "prefetch",
        experiment: "prefetch",
        programs: vec![
            program(16, in_cache, "eden in L2"),
            program(64, in_cache, "eden in L2"),
            program(144, in_cache, "eden in L2"),
            program(64, 64 << 20, "eden of 64m"),
        ],
        candidates: vec![
            none,
            settings(1, 256, 0, instruction),
            settings(1, 512, 0, instruction),
            settings(1, 256, 1, ("nta", 0)),
            settings(3, 256, 1, instruction),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments;
    use crate::machine::processors::{NEOVERSE, ZEN};

    /// A case that its experiment leaves out, or whose parameters the experiment does not know,
    /// would never be measured.
    #[test]
    fn every_case_is_one_that_its_experiment_takes() {
        let processor = Processor::detect();
        let all = questions(&Topology::detect(), &processor, 2);
        let (all, _) = for_processor(all, experiments::all(), processor);
        for case in all.iter().flat_map(Question::cases) {
            let experiment = experiments::all().iter().find(|one| one.name == case.experiment).unwrap();
            assert_eq!(experiment.nonsense(&case), None, "{case:?}");
            let axes = experiment.axes.iter().filter(|axis| axis.applies_to(&case.mode));
            let names: Vec<&str> = axes.map(|axis| axis.name).collect();
            let given: Vec<&str> = case.params.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(given, names, "{case:?}");
        }
    }

    #[test]
    fn a_question_of_another_machine_is_left_out_with_a_sentence() {
        let on = |processor| {
            let all = questions(&Topology::detect(), &processor, 2);
            let (taken, left_out) = for_processor(all, experiments::all(), processor);
            (taken.iter().map(|question| question.about).collect::<Vec<_>>(), left_out)
        };
        let (on_zen, none) = on(ZEN);
        assert_eq!((on_zen[0], none), ("prefetch", vec![]));
        let told = "the question of prefetch left out: its loop of machine code needs x86-64, and this machine is AArch64";
        assert_eq!(on(NEOVERSE), (on_zen[1..].to_vec(), vec![told.to_string()]));
    }

    #[test]
    fn what_is_recommended_is_an_option_list_that_works() {
        for question in questions(&Topology::detect(), &Processor::detect(), 2) {
            for candidate in question.candidates.iter().filter(|one| !one.options.is_empty()) {
                let builder = allotment::Heap::builder().max_heap_size(1 << 30).options(&candidate.options);
                builder.unwrap().resolve().unwrap();
            }
        }
    }
}
