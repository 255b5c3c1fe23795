//! The hottest code in readable form, in the way of JMH's `perfasm`.
//!
//! Regions with more than a tenth of all samples are printed: each instruction with its share, and
//! ten lines of context around them. A table of the twenty hottest functions follows, and the rest.

use super::regions::{Region, regions};
use super::{Clock, Image, Samples};
use crate::format::phrase::count;
use allotment_jit::{Disassembled, Machine, disassemble};
use std::collections::HashMap;
use std::fmt::Write;

/// The share from which a region is printed.
const HOT: f64 = 0.1;
/// Lines of context before and after a region.
const CONTEXT: usize = 10;
/// Functions in the table.
const TOP: usize = 20;
/// The most bytes after a region that are disassembled for context; an instruction has at most 15.
const BEHIND: u64 = CONTEXT as u64 * 15;
/// The most bytes of a symbol before a region that are disassembled. A symbol without a known
/// end may begin far away.
const BEFORE: u64 = 64 << 10;

/// The listing, lines with ends.
pub fn listing(samples: &Samples, clock: Clock, image: &Image) -> String {
    let total = samples.total();
    let mut text = format!("{} by {clock}\n", count(total as usize, "sample"));
    if samples.lost > 0 {
        let _ = writeln!(text, "{} more were lost: there was no room for them", samples.lost);
    }
    if total == 0 {
        text += "the system sent none, so there is nothing to show\n";
        return text;
    }
    let begins = |address| image.symbol(address).map(|symbol| symbol.address);
    let found = regions(samples.addresses(), begins);
    let share = |count: u64| count as f64 / total as f64;
    for region in found.iter().filter(|region| share(region.samples) >= HOT) {
        let _ = writeln!(text, "\n{:>6}  {}", percent(share(region.samples)), place(image, region.first));
        text += &instructions(samples, image, region, total);
    }
    text += "\nhottest functions\n";
    let functions = functions(&found, image);
    for (name, count) in functions.iter().take(TOP) {
        let _ = writeln!(text, "{:>6}  {name}", percent(share(*count)));
    }
    let rest: u64 = functions.iter().skip(TOP).map(|(_, count)| count).sum();
    if rest > 0 {
        let _ = writeln!(text, "{:>6}  {} colder functions", percent(share(rest)), functions.len() - TOP);
    }
    if samples.kernel > 0 {
        let _ = writeln!(text, "{:>6}  the kernel", percent(share(samples.kernel)));
    }
    text += "a sample shows at the instruction after the one that takes the time\n";
    text
}

/// The functions of the regions with their samples, hottest first. Code without a name is grouped
/// by its origin.
fn functions(regions: &[Region], image: &Image) -> Vec<(String, u64)> {
    let mut counts: HashMap<String, u64> = HashMap::new();
    for region in regions {
        let origin = image.origin(region.first);
        let name = match image.symbol(region.first) {
            Some(symbol) => format!("{}, in {origin}", symbol.name),
            None => format!("without a name, in {origin}"),
        };
        *counts.entry(name).or_insert(0) += region.samples;
    }
    let mut functions: Vec<(String, u64)> = counts.into_iter().collect();
    functions.sort_by(|(a, of_a), (b, of_b)| of_b.cmp(of_a).then_with(|| a.cmp(b)));
    functions
}

fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// The place of an address: `allotment::mutator::refill+0x12, in allotment`.
fn place(image: &Image, address: u64) -> String {
    let origin = image.origin(address);
    match image.symbol(address) {
        Some(symbol) => format!("{}+{:#x}, in {origin}", symbol.name, address - symbol.address),
        None => format!("{:#x}, in {origin}", image.in_its_file(address)),
    }
}

/// A region's instructions with context, a line each.
fn instructions(samples: &Samples, image: &Image, region: &Region, total: u64) -> String {
    let begins = image.symbol(region.first).map(|symbol| symbol.address);
    let start = begins.filter(|begins| region.first - begins <= BEFORE).unwrap_or(region.first);
    let code = image.bytes(start, region.last + BEHIND);
    if code.is_empty() {
        return "        its bytes cannot be read any more\n".into();
    }
    let lines = disassemble(Machine::HOST, &code, image.in_its_file(start));
    let bias = start - image.in_its_file(start);
    let at = |address| lines.iter().position(|line| line.address + bias >= address).unwrap_or(0);
    let (first, last) = (at(region.first), at(region.last));
    let own = |line: &&Disassembled| {
        // The context after a region ends with the symbol, since another function or none follows.
        let address = line.address + bias;
        address <= region.last || image.symbol(address).map(|symbol| symbol.address) == begins
    };
    let shown: Vec<&Disassembled> =
        lines.iter().take(last + 1 + CONTEXT).skip(first.saturating_sub(CONTEXT)).take_while(own).collect();
    let width = shown.iter().map(|line| line.assembly.len()).max().unwrap_or(0);
    let (mut text, mut source) = (String::new(), None);
    for line in shown {
        let address = line.address + bias;
        let count: u64 = samples.at_bytes(address as usize, line.bytes).iter().sum();
        let share = if count == 0 { String::new() } else { percent(count as f64 / total as f64) };
        let mut notes = Vec::new();
        let target = line.target.map(|target| target.wrapping_add(bias));
        if let Some(target) = target.and_then(|target| image.symbol(target))
            && Some(target.address) != begins
        {
            notes.push(format!("to {}", target.name));
        }
        let here = image.line(address);
        if here.is_some() && here != source {
            notes.extend(here.clone());
            source = here;
        }
        let row = format!("{share:>6}  {:#x}  {:<width$}  {}", line.address, line.assembly, notes.join(", "));
        let _ = writeln!(text, "{}", row.trim_end());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Code whose instructions are known: a number, 12 that do nothing, and a loop that adds 5 and
    /// takes 1 away until there are 91.
    #[cfg(target_arch = "x86_64")]
    #[unsafe(naked)]
    extern "C" fn known() -> u64 {
        std::arch::naked_asm!(
            "mov rax, 7",
            ".rept 12",
            "nop",
            ".endr",
            "2:",
            "add rax, 5",
            "dec rax",
            "cmp rax, 91",
            "jne 2b",
            "ret"
        )
    }

    /// Code whose instructions are known, as those of x86-64.
    #[cfg(target_arch = "aarch64")]
    #[unsafe(naked)]
    extern "C" fn known() -> u64 {
        std::arch::naked_asm!(
            "mov x0, 7",
            ".rept 12",
            "nop",
            ".endr",
            "2:",
            "add x0, x0, 5",
            "sub x0, x0, 1",
            "cmp x0, 91",
            "b.ne 2b",
            "ret"
        )
    }

    /// The first instruction of [`known`], and the first two of its loop with their places.
    const FIRST: &str = if cfg!(target_arch = "x86_64") { "mov rax, " } else { "movz x0, " };
    const ADDS: (u64, &str) =
        if cfg!(target_arch = "x86_64") { (19, "add rax, 5") } else { (52, "add x0, x0, #") };
    const TAKES: (u64, &str) =
        if cfg!(target_arch = "x86_64") { (23, "dec rax") } else { (56, "sub x0, x0, #") };

    fn samples(at: &[(u64, u64)]) -> Samples {
        let mut samples = Samples::default();
        for &(offset, times) in at {
            (0..times).for_each(|_| samples.add(known as *const () as u64 + offset));
        }
        samples
    }

    #[test]
    fn hot_instructions_have_their_share_and_a_context() {
        assert_eq!(known(), 91);
        let image = Image::of_this_process();
        let mut samples = samples(&[(ADDS.0, 60), (TAKES.0, 30)]);
        samples.kernel = 10;
        let text = listing(&samples, Clock::Event { kernel: true }, &image);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "100 samples by cpu-clock");
        assert!(
            lines[2].starts_with(" 90.0%  ") && lines[2].contains(&format!("known+{:#x}, in ", ADDS.0)),
            "{text}"
        );
        let row = |share: &str, instruction: &str| {
            lines.iter().any(|line| line.starts_with(share) && line.contains(instruction))
        };
        assert!(row(" 60.0%  0x", ADDS.1) && row(" 30.0%  0x", TAKES.1), "{text}");
        assert_eq!(lines.iter().filter(|line| line.contains("  nop")).count(), CONTEXT, "{text}");
        assert!(!text.contains(FIRST), "{text}");
        assert!(text.contains("  ret") && text.contains(" 10.0%  the kernel\n"), "{text}");
        assert!(
            lines.iter().any(|line| line.starts_with(" 90.0%  ") && line.contains("::known, in ")),
            "{text}"
        );
    }

    #[test]
    fn what_is_cold_is_in_the_table_alone() {
        let mut samples = samples(&[(ADDS.0, 95)]);
        (0..5).for_each(|_| samples.add(8));
        let text = listing(&samples, Clock::Event { kernel: false }, &Image::of_this_process());
        assert_eq!(text.matches("code that is gone").count(), 1, "{text}");
        assert!(text.contains("  5.0%  without a name, in code that is gone\n"), "{text}");
    }

    #[test]
    fn code_that_is_gone_has_no_instructions() {
        let mut samples = Samples::default();
        samples.add(8);
        samples.lost = 3;
        let text = listing(&samples, Clock::Event { kernel: false }, &Image::of_this_process());
        assert!(
            text.contains("its bytes cannot be read any more\n") && text.contains("3 more were lost"),
            "{text}"
        );
        let none = listing(&Samples::default(), Clock::Event { kernel: true }, &Image::of_this_process());
        assert!(none.contains("the system sent none"), "{none}");
    }
}
