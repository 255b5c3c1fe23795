//! The text that `allotment asm` prints.
//!
//! The order is: the settings, as options to copy; both sequences; the code out of line; the
//! differences; the known costs; the barriers. The sequences stand side by side where the terminal
//! is wide enough, aligned by the purpose of the instructions. The differences are numbered and
//! stand below, since a column of sentences would tear the other columns apart.

use super::arguments::{Arrangement, Form, Length, Question, What};
use super::figures;
use super::hotspot::{self, Step};
use super::ours::Ours;
use super::profile::Profile;
use super::stage::{Stage, stages};
use crate::format::{Layout, told, width};
use allotment::raw::{PrefetchSettings, PrefetchStyle, Vendor};
use allotment_jit::{Initialise, Line, MAX_INLINE_BYTES, Part};
use allotment_report::command::Failure;
use std::fmt::Write;

/// Columns without a terminal.
const WITHOUT_TERMINAL: usize = 120;

/// The parts of a sequence and their names.
const PARTS: [(Part, &str); 2] = [(Part::Hot, "in line"), (Part::Cold, "out of line")];

/// The content of the page.
pub(super) struct Page<'a> {
    pub(super) question: &'a Question,
    pub(super) ours: &'a Ours,
    pub(super) profile: Option<&'a anyhow::Result<Profile>>,
    pub(super) layout: Arrangement,
    /// The columns of the terminal, if there is one.
    pub(super) columns: Option<usize>,
    pub(super) barriers: bool,
}

impl Page<'_> {
    /// The text.
    ///
    /// # Errors
    /// The barriers cannot be emitted.
    pub(super) fn text(&self) -> Result<String, Failure> {
        let theirs = hotspot::sequence(self.question);
        let mut text = heading(self.question);
        text.push('\n');
        text += &self.sequences(&theirs);
        text.push('\n');
        for line in figures::lines(self.question, self.ours, &theirs) {
            text += &self.wrapped(&line);
        }
        if let Some(profile) = self.profile {
            text.push('\n');
            match profile {
                Ok(profile) => text += &profile.summary(),
                Err(why) => {
                    let _ = writeln!(text, "not sampled: {}", told(why));
                }
            }
        }
        if self.barriers {
            let barriers = self.ours.barriers().map_err(|error| Failure::Failed(error.to_string()))?;
            for barrier in barriers {
                let _ = writeln!(text, "\n{}", barrier.name);
                let lines = barrier.sequence.lines();
                let rows = lines.iter().map(|line| self.ours_cells(line, None)).collect();
                text += &table(rows, 1);
                text += &self.wrapped(&format!("HotSpot: {}", barrier.hotspot));
            }
        }
        Ok(text)
    }

    /// A sentence in lines of the page's width.
    fn wrapped(&self, text: &str) -> String {
        let known = self.columns.filter(|_| self.layout != Arrangement::Beside);
        width::lines(text, Some(known.unwrap_or(WITHOUT_TERMINAL))) + "\n"
    }

    /// Both sequences in the arrangement that fits, and the differences.
    fn sequences(&self, theirs: &[Step]) -> String {
        let beside = self.beside(theirs);
        let widest = beside.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        let fits = match self.layout {
            Arrangement::Auto => self.columns.is_some_and(|columns| widest <= columns),
            Arrangement::Beside => true,
            Arrangement::Below => false,
        };
        let mut text = if fits { beside } else { self.below(theirs) };
        text += "\nHotSpot's differs:\n";
        for (differs, mark) in theirs.iter().filter_map(|step| step.differs.as_ref()).zip(1..) {
            text += &self.wrapped(&format!("({mark}) {differs}"));
        }
        text
    }

    /// The sequences side by side.
    fn beside(&self, theirs: &[Step]) -> String {
        let (their_cells, stages) = (their_cells(theirs), stages(&self.ours.lines));
        let mut rows = Vec::new();
        for (part, name) in PARTS {
            rows.push(self.titles([format!("ours, {name}"), format!("HotSpot, {name}")]));
            for stage in Stage::ALL {
                let lines = self.ours.lines.iter().enumerate();
                let lines = lines.filter(|(index, line)| line.part == part && stages[*index] == stage);
                let mut lines = lines.map(|(index, line)| self.ours_cells(line, Some(index)));
                let steps = theirs.iter().zip(&their_cells);
                let mut steps = steps.filter(|(step, _)| step.part == part && step.stage == stage);
                loop {
                    let (line, step) = (lines.next(), steps.next());
                    if line.is_none() && step.is_none() {
                        break;
                    }
                    let mut cells = line.unwrap_or_else(|| vec![String::new(); self.our_columns()]);
                    cells.extend(step.into_iter().flat_map(|(_, cells)| cells.clone()));
                    rows.push(cells);
                }
            }
        }
        ruled(&table(rows, self.our_columns() - 2))
    }

    /// The sequences one below the other.
    fn below(&self, theirs: &[Step]) -> String {
        let mut tables = Vec::new();
        for (part, name) in PARTS {
            let lines = self.ours.lines.iter().enumerate().filter(|(_, line)| line.part == part);
            let rows = lines.map(|(index, line)| self.ours_cells(line, Some(index))).collect();
            tables.push(format!("ours, {name}\n{}", table(rows, self.our_columns() - 2)));
        }
        for (part, name) in PARTS {
            let steps = theirs.iter().zip(their_cells(theirs)).filter(|(step, _)| step.part == part);
            let rows = steps.map(|(_, cells)| cells).collect();
            tables.push(format!("HotSpot, {name}\n{}", table(rows, 0)));
        }
        tables.join("\n")
    }

    /// The number of columns of this project's side.
    fn our_columns(&self) -> usize {
        if self.sampled().is_some() { 4 } else { 3 }
    }

    fn sampled(&self) -> Option<&Profile> {
        self.profile.and_then(|profile| profile.as_ref().ok()).filter(|profile| profile.samples() > 0)
    }

    /// A row above the instructions.
    fn titles(&self, [ours, theirs]: [String; 2]) -> Vec<String> {
        let mut cells = vec![String::new(); self.our_columns() - 2];
        cells.extend([ours, String::new(), theirs]);
        cells
    }

    /// The cells of an instruction: percentage if it was sampled, offset, instruction, note.
    /// `index` is the line's index in the sequence.
    fn ours_cells(&self, line: &Line, index: Option<usize>) -> Vec<String> {
        let mut cells = Vec::new();
        if let (Some(profile), Some(index)) = (self.sampled(), index) {
            cells.push(profile.percent(index));
        }
        let part = if line.part == Part::Hot { "" } else { "cold+" };
        cells.extend([format!("{part}{}", line.offset), decimal(&line.assembly), line.note.into()]);
        cells
    }
}

/// Prints sizes and distances in decimal, as the settings write them. Addresses and headers stay as
/// they are.
fn decimal(assembly: &str) -> String {
    let mut parts = assembly.split("0x");
    let mut text = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let end = part.find(|digit: char| !digit.is_ascii_hexdigit()).unwrap_or(part.len());
        let (digits, rest) = part.split_at(end);
        match i64::from_str_radix(digits, 16)
            .or_else(|_| u64::from_str_radix(digits, 16).map(|bits| bits as i64))
        {
            Ok(number) if number.unsigned_abs() <= MAX_INLINE_BYTES as u64 => {
                let _ = write!(text, "{number}");
            }
            _ => {
                let _ = write!(text, "0x{digits}");
            }
        }
        text.push_str(rest);
    }
    text
}

/// For each of HotSpot's steps its cells: the assembly, and the note with the number of the
/// difference.
fn their_cells(theirs: &[Step]) -> Vec<Vec<String>> {
    let mut marks = 1..;
    let cells = |step: &Step| {
        let mark = step.differs.as_ref().and_then(|_| marks.next());
        let mark = mark.map_or(String::new(), |mark| format!(" ({mark})"));
        vec![step.assembly.clone(), format!("{}{mark}", step.note)]
    };
    theirs.iter().map(cells).collect()
}

/// The question, and the settings as options.
fn heading(question: &Question) -> String {
    let mut what = match question.what {
        What::Object { bytes } => format!("object of {bytes} bytes"),
        What::Array { element, length: Length::Register } => {
            format!("array of elements of {element} bytes, its length in rsi")
        }
        What::Array { element, length: Length::Constant(length) } => {
            let bytes = question.bytes().unwrap_or_default();
            format!("array of {length} elements of {element} bytes, {bytes} bytes")
        }
    };
    if question.count > 1 {
        let _ = write!(what, ", {} of them in one bump", question.count);
    }
    let form = match question.form {
        Form::Pasted => "pasted",
        Form::Stub => "as a function",
    };
    let initialise = match question.initialise {
        Initialise::ByCaller => "written by the caller",
        Initialise::PerObject => "zeroed per object",
        Initialise::Ahead => "zeroed ahead",
    };
    let processor = &question.processor;
    let vendor = match processor.vendor {
        Vendor::Intel => "Intel",
        Vendor::Amd => "AMD",
        Vendor::Hygon => "Hygon",
        Vendor::Zhaoxin => "Zhaoxin",
        _ => "another vendor",
    };
    let has = |has: bool, name: &str| format!(", {}{name}", if has { "" } else { "no " });
    let mut text = format!("{what}, {form}, {initialise}\n");
    let _ = writeln!(
        text,
        "for {vendor}, family {:#x}{}{}",
        processor.family,
        has(processor.avx2, "AVX2"),
        has(processor.prefetchw, "PREFETCHW")
    );
    let ours = options(&question.settings.normalized());
    let _ = writeln!(text, "ALLOTMENT_OPTIONS=\"{}\"", ours.join(" "));
    let theirs = options(&java(question));
    let shown = theirs.iter().filter(|option| !option.ends_with("Lines=0"));
    let _ =
        writeln!(text, "java {}", shown.map(|option| format!("-XX:{option}")).collect::<Vec<_>>().join(" "));
    text
}

/// The settings as HotSpot's options. A number of lines of 0, which HotSpot does not have, stays 0
/// where this site ignores it.
fn java(question: &Question) -> PrefetchSettings {
    let taken = hotspot::as_hotspot_takes_them(&question.settings, question.bytes());
    if question.is_array() {
        PrefetchSettings { instance_lines: question.settings.instance_lines, ..taken }
    } else {
        PrefetchSettings { lines: question.settings.lines, ..taken }
    }
}

/// The settings with an effect, as options.
pub(super) fn options(settings: &PrefetchSettings) -> Vec<String> {
    let mut options = vec![format!("AllocatePrefetchStyle={}", settings.style.number())];
    if settings.style != PrefetchStyle::None {
        options.extend([
            format!("AllocatePrefetchDistance={}", settings.distance),
            format!("AllocatePrefetchLines={}", settings.lines),
            format!("AllocateInstancePrefetchLines={}", settings.instance_lines),
            format!("AllocatePrefetchStepSize={}", settings.step),
            format!("AllocatePrefetchInstr={}", settings.instruction.number()),
        ]);
    }
    options
}

/// Aligned columns. The first `numbers` of them are aligned at the right.
fn table(mut rows: Vec<Vec<String>>, numbers: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    rows.iter_mut().for_each(|row| row.resize(columns, String::new()));
    Layout { header: Vec::new(), rows, words: (numbers..columns).collect() }.text(None)
}

/// The table with a rule above the instructions that are out of line.
fn ruled(table: &str) -> String {
    let widest = table.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    let rule = |line: &str| line.contains("ours, out of line");
    table
        .lines()
        .flat_map(|line| [rule(line).then(|| "-".repeat(widest) + "\n"), Some(format!("{line}\n"))])
        .flatten()
        .collect()
}
