//! `chase` and `window`: hops around a cycle of slots. Each hop is a load that waits for the one
//! before.

use super::expected::{Machine, Pattern};
use super::{facts, memory};
use crate::harness::{Bench, Case, SecondaryValue, Share, Worker};
use crate::walk::{Cycle, Random, Way};

/// Turns of a call, sixteen hops each.
const TURNS: usize = 64;

pub(super) fn run(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    let stride = case.size("stride")?;
    let way = match case.mode.as_str() {
        "window" => Way::Window(case.size("window")? / stride),
        _ if case.text("order")? == "sequential" => Way::Sequential,
        _ => Way::Shuffled,
    };
    let machine = Machine::detect();
    bench.measure(|thread| {
        let memory = memory(case, thread)?;
        let walked = memory.bytes() / stride * machine.line.min(stride);
        let expected = machine.hits(Pattern::Cycle, walked, case.threads);
        let cycle = Cycle::new(memory, stride, way, &mut Random::new(thread.index as u64))?;
        let facts = facts(case, cycle.memory(), expected)?;
        Ok(Chase { cycle, facts })
    })
}

struct Chase {
    cycle: Cycle,
    facts: Vec<SecondaryValue>,
}

impl Worker for Chase {
    #[inline]
    fn batch(&mut self) -> u64 {
        self.cycle.walk(TURNS)
    }

    fn metrics(&mut self, _share: &Share) -> Vec<SecondaryValue> {
        self.facts.clone()
    }
}
