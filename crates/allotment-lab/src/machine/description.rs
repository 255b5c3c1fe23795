//! The machine in words, for `allotment machine` and for result files.

use super::{read_cost, ticks_per_second};
use crate::counters;
use crate::format::number::size;
use allotment::internals::platform::available_memory;
use allotment::internals::platform::{Cache, CacheKind, Cpu, Topology};
use allotment::internals::platform::{huge_page_size, page_size, transparent_huge_pages};
use allotment::raw::{AArch64, Processor};
use std::fs;
use std::path::Path;

/// Facts about a machine, as names and values in reading order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The names are short words; the values are one line each.
    pub facts: Vec<(&'static str, String)>,
}

impl Machine {
    /// Describes this machine. Takes some milliseconds, mostly for the clock.
    pub fn detect(topology: &Topology) -> Machine {
        let root = Path::new("/");
        let processor = Processor::detect();
        let mut facts = vec![("processor", name(topology.model_name(), &processor))];
        let numbers: Vec<usize> = topology.cpus().iter().map(|cpu| cpu.number).collect();
        facts.push((
            "CPUs",
            format!("{} allowed ({}) on {} cores", numbers.len(), ranges(&numbers), topology.cores()),
        ));
        facts.push((
            "CPU quota",
            topology.cpu_quota().map_or("none".into(), |quota| format!("{quota:.2} CPUs by control group")),
        ));
        facts.extend(topology.caches().iter().map(|cache| {
            let (bytes, cpus) = (size(cache.bytes as u64), ranges(&cache.shared_cpus));
            (cache_name(cache), format!("{bytes}, {} B lines, used by CPU {cpus}", cache.line_bytes))
        }));
        facts.extend(instructions(&processor));
        facts
            .push(("pages", format!("{}, huge {}", size(page_size() as u64), size(huge_page_size() as u64))));
        facts.push(("huge pages", transparent_huge_pages()));
        let memory = available_memory();
        let mib = memory.bytes as u64 >> 20;
        let source = match memory.control_group {
            Some(directory) => format!("control group {}", directory.display()),
            None => "the machine".into(),
        };
        facts.push(("memory", format!("{mib} MiB, set by {source}")));
        facts.push(("kernel", line(root, "proc/sys/kernel/osrelease")));
        facts.push((
            "clock source",
            line(root, "sys/devices/system/clocksource/clocksource0/current_clocksource"),
        ));
        facts.extend(ticks_per_second().map(|hertz| ("ticks", format!("{} MHz", hertz as f64 / 1e6))));
        facts.push(("clock read", format!("{:.1} ns", read_cost())));
        facts.push(("governor", line(root, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")));
        let counters =
            counters::here().map_or_else(|refusal| format!("none: {refusal}"), |()| "available".into());
        facts.push(("counters", counters));
        facts.push(("perf paranoid", line(root, "proc/sys/kernel/perf_event_paranoid")));
        Machine { facts }
    }

    /// The facts as `name=value`.
    pub fn pairs(&self) -> Vec<String> {
        self.facts.iter().map(|(name, value)| format!("{name}={value}")).collect()
    }
}

/// The CPUs in the order in which threads are bound to them: one hardware thread of every core
/// first, so that threads share a core only when they must.
pub fn placement(cpus: &[Cpu]) -> Vec<usize> {
    let rank = |index: usize| cpus[..index].iter().filter(|other| other.core == cpus[index].core).count();
    let mut order: Vec<(usize, usize)> =
        cpus.iter().enumerate().map(|(index, cpu)| (rank(index), cpu.number)).collect();
    order.sort();
    order.into_iter().map(|(_, number)| number).collect()
}

/// The first two CPUs of this process in the order of [`placement`]; `None` if it has one CPU.
pub fn first_two() -> Option<[usize; 2]> {
    match placement(Topology::detect().cpus())[..] {
        [first, second, ..] => Some([first, second]),
        _ => None,
    }
}

/// The processor's name: the kernel's for its model, otherwise the numbers of its maker.
fn name(model: Option<&str>, processor: &Processor) -> String {
    match (model, processor) {
        (Some(model), _) => model.to_string(),
        (None, Processor::AArch64(AArch64 { identity: Some((implementer, part)), .. })) => {
            format!("AArch64, implementer {implementer:#04x}, part {part:#05x}")
        }
        (None, _) => "unknown".into(),
    }
}

/// The instructions that not every processor of its machine has, and that the measured code uses.
fn instructions(processor: &Processor) -> Vec<(&'static str, String)> {
    let has = |has: bool| if has { "yes" } else { "no" }.to_string();
    match processor {
        Processor::AArch64(AArch64 { lse, zva_bytes, .. }) => {
            let zva = zva_bytes.map_or("no".into(), |bytes| format!("{bytes} B"));
            vec![("LSE atomics", has(*lse)), ("DC ZVA", zva)]
        }
        _ => vec![("prefetchw", has(processor.prefetches_for_writing()))],
    }
}

fn cache_name(cache: &Cache) -> &'static str {
    match (cache.level, cache.kind) {
        (1, CacheKind::Instruction) => "L1i",
        (1, _) => "L1d",
        (2, _) => "L2",
        (3, _) => "L3",
        _ => "cache",
    }
}

/// Ascending numbers as Linux writes them: `0-3,8`.
fn ranges(numbers: &[usize]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let text = |&(first, last): &(usize, usize)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    runs.iter().map(text).collect::<Vec<_>>().join(",")
}

fn line(root: &Path, path: &str) -> String {
    let text = fs::read_to_string(root.join(path)).unwrap_or_default();
    let text = text.trim();
    if text.is_empty() { "unknown".into() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::processors::{NEOVERSE, ZEN};

    #[test]
    fn numbers_are_written_as_ranges() {
        assert_eq!(ranges(&[0, 1, 2, 3, 8]), "0-3,8");
        assert_eq!(ranges(&[5]), "5");
        assert_eq!(ranges(&[]), "");
    }

    #[test]
    fn threads_get_cores_of_their_own_first() {
        let cpu = |number, core| Cpu { number, core };
        assert_eq!(placement(&[cpu(0, 0), cpu(1, 0), cpu(2, 1), cpu(3, 1)]), [0, 2, 1, 3]);
        assert_eq!(placement(&[cpu(4, 0), cpu(6, 1)]), [4, 6]);
    }

    #[test]
    fn a_processor_is_described_by_what_its_machine_has() {
        let facts =
            |processor| instructions(&processor).into_iter().map(|(name, value)| format!("{name}={value}"));
        assert_eq!(facts(ZEN).collect::<Vec<_>>(), ["prefetchw=yes"]);
        assert_eq!(facts(NEOVERSE).collect::<Vec<_>>(), ["LSE atomics=yes", "DC ZVA=64 B"]);
        assert_eq!(name(Some("a model"), &NEOVERSE), "a model");
        assert_eq!(name(None, &NEOVERSE), "AArch64, implementer 0x41, part 0xd0c");
        assert_eq!(name(None, &ZEN), "unknown");
    }

    #[test]
    fn this_machine_has_a_description() {
        let machine = Machine::detect(&Topology::detect());
        for name in ["processor", "CPUs", "pages", "clock read", "counters", "kernel"] {
            let fact = machine.facts.iter().find(|(known, _)| *known == name);
            assert!(fact.is_some_and(|(_, value)| !value.is_empty() && !value.contains('\n')), "{name}");
        }
    }
}
