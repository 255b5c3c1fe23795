//! Facts about a sequence that need no measurement: counts, and consequences of the settings.
//!
//! Refused: cycles. The time of an instruction depends on the processor, on the surrounding code
//! and on the cache that holds the memory. `--profile` and `allotment run tlab` measure.

use super::arguments::Question;
use super::hotspot::{self, Step};
use super::ours::Ours;
use crate::format::phrase::count;
use allotment::raw::PrefetchStyle;
use allotment_jit::{Initialise, Part};
use iced_x86::{Decoder, DecoderOptions, FlowControl, InstructionInfoFactory, OpAccess};
use std::fmt::Write;

/// Bytes of a line of cache.
const LINE: usize = 64;

/// Counts of instructions by their effect. Each instruction counts once, in a loop or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) instructions: usize,
    pub(super) loads: usize,
    pub(super) stores: usize,
    pub(super) prefetches: usize,
    pub(super) branches: usize,
    /// Whether there is a loop.
    pub(super) loops: bool,
}

/// Counts the instructions of code.
pub(super) fn counts(code: &[u8]) -> Counts {
    let mut counts = Counts::default();
    let mut info = InstructionInfoFactory::new();
    for instruction in &mut Decoder::new(64, code, DecoderOptions::NONE) {
        counts.instructions += 1;
        let flow = instruction.flow_control();
        counts.branches +=
            usize::from(matches!(flow, FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch));
        let near = flow == FlowControl::ConditionalBranch;
        // The target of an out-of-line branch is still 0, so it is never after an instruction of
        // its own part.
        counts.loops |= near && (1..instruction.ip()).contains(&instruction.near_branch_target());
        if is_prefetch(&instruction) {
            counts.prefetches += 1;
            continue;
        }
        let mut accesses = info.info(&instruction).used_memory().iter().map(|memory| memory.access());
        let stack = instruction.is_stack_instruction();
        match accesses.next() {
            Some(OpAccess::Read) if !stack => counts.loads += 1,
            Some(OpAccess::Write) if !stack => counts.stores += 1,
            Some(OpAccess::ReadWrite) => {
                counts.loads += 1;
                counts.stores += 1;
            }
            _ => {}
        }
    }
    counts
}

fn is_prefetch(instruction: &iced_x86::Instruction) -> bool {
    use iced_x86::Mnemonic::{Prefetchnta, Prefetcht0, Prefetcht2, Prefetchw};
    matches!(instruction.mnemonic(), Prefetchnta | Prefetcht0 | Prefetcht2 | Prefetchw)
}

/// The facts about a sequence, a line each.
pub(super) fn lines(question: &Question, ours: &Ours, theirs: &[Step]) -> Vec<String> {
    let (hot, cold) = (ours.sequence.hot(), ours.sequence.cold());
    let (in_line, out_of_line) = (counts(hot), counts(cold));
    let objects =
        if question.count == 1 { String::new() } else { format!(" for {} objects", question.count) };
    let mut said = vec![format!(
        "ours: in line {} bytes, {}{objects}: {}, {}, {}, {}{}",
        hot.len(),
        count(in_line.instructions, "instruction"),
        count(in_line.loads, "load"),
        count(in_line.stores, "store"),
        count(in_line.prefetches, "prefetch"),
        count(in_line.branches, "branch"),
        if in_line.loops { "; an instruction in a loop counts once" } else { "" },
    )];
    said.push(format!(
        "out of line {}, {}, {}",
        count(cold.len(), "byte"),
        count(out_of_line.instructions, "instruction"),
        count(out_of_line.prefetches, "prefetch"),
    ));
    let of = |part| theirs.iter().filter(move |step| step.part == part);
    let known: usize = of(Part::Hot).filter_map(|step| step.instructions).sum();
    let open = of(Part::Hot).any(|step| step.instructions.is_none());
    said.push(format!(
        "HotSpot's: in line {}{}{}",
        count(known, "instruction"),
        if open { " and what clears the body" } else { "" },
        if question.count == 1 { "" } else { ", for each object" },
    ));
    said.extend(prefetched(question));
    said.push(
        "known without measuring: the load of the top waits until the allocation before has stored it; the branch to the \
         slow path is not taken while there is room; nothing waits for a prefetch"
            .into(),
    );
    said.push(written(question));
    said
}

/// How often each line is prefetched.
fn prefetched(question: &Question) -> Option<String> {
    let bytes = question.bytes().map(|bytes| bytes * question.count);
    let settings = hotspot::as_hotspot_takes_them(&question.settings, bytes);
    let lines = if question.is_array() { settings.lines } else { settings.instance_lines };
    let every = match (settings.style, bytes) {
        (PrefetchStyle::None, _) => {
            return Some("nothing is prefetched: that is left to the processor".into());
        }
        (PrefetchStyle::Watermark, bytes) => settings.distance.max(bytes.unwrap_or(0)),
        (_, Some(bytes)) => bytes,
        (_, None) => return Some(format!("{} each time", count(lines, "prefetch"))),
    };
    let rate = (lines * LINE) as f64 / every as f64;
    let mut text = format!(
        "{} for every {every} bytes: {} for each line of {LINE}",
        count(lines, "prefetch"),
        (rate * 100.0).round() / 100.0
    );
    if rate < 1.0 {
        text.push_str("; the rest is left to the processor");
    }
    Some(text)
}

/// The bytes that the stores write.
fn written(question: &Question) -> String {
    let mut text = String::from("memory written: ");
    let header = if question.is_array() { 16 } else { 8 };
    let _ = match (question.bytes(), question.initialise) {
        (Some(bytes), Initialise::PerObject) => write!(text, "all {} bytes", bytes * question.count),
        (None, Initialise::PerObject) => write!(text, "all of the array"),
        (_, Initialise::ByCaller) => {
            write!(text, "{} bytes of header; the caller writes the rest", header * question.count)
        }
        (_, Initialise::Ahead) => {
            write!(
                text,
                "{} bytes of header; the heap has zeroed the rest, a window at a time",
                header * question.count
            )
        }
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_counted_by_what_they_do() {
        // mov rax, [rdi]; lea rcx, [rax+64]; cmp rcx, [rdi+8]; ja +0; prefetchw [rcx]; mov [rdi],
        // rcx; push rax; add [rax], rcx
        let code = [
            0x48, 0x8b, 0x07, 0x48, 0x8d, 0x48, 0x40, 0x48, 0x3b, 0x4f, 0x08, 0x0f, 0x87, 0, 0, 0, 0, 0x0f,
            0x0d, 0x09, 0x48, 0x89, 0x0f, 0x50, 0x48, 0x01, 0x08,
        ];
        let expected =
            Counts { instructions: 8, loads: 3, stores: 2, prefetches: 1, branches: 1, loops: false };
        assert_eq!(counts(&code), expected);
        // nop; dec rax; jne to the dec
        assert!(counts(&[0x90, 0x48, 0xff, 0xc8, 0x75, 0xfb]).loops);
    }
}
