//! Tests of what each protocol does with a line: step by step, and for random steps.

use super::caches::line_of;
use super::{Caches, Geometry, Model, Protocol, State, Supply, Wanted};
use State::{Exclusive as E, Forward as F, Invalid as I, Modified as M, Owned as O, Shared as S};
use proptest::prelude::*;

/// One access to line 0, and its core.
#[derive(Clone, Copy, Debug)]
enum Do {
    Load(usize),
    Store(usize),
    Evict(usize),
}
use Do::{Evict, Load, Store};

/// The expected values of a table's row: states of C0, C1, C2; memory reads, HITM, upgrades,
/// invalidations, write-backs, clean forwards.
struct Row(&'static str, Protocol, &'static [Do], [State; 3], [u64; 6]);

impl Caches {
    /// How a core holds the line of an address.
    pub(super) fn state(&self, core: usize, address: u64) -> State {
        self.private[core].state(line_of(address))
    }

    /// Writes a word.
    fn store(&mut self, core: usize, address: u64, value: u64) -> Supply {
        let supply = self.acquire(core, line_of(address), Wanted::Write);
        self.write(core, address, value);
        supply
    }

    /// Checks all lines.
    pub(super) fn check(&self) -> Result<(), String> {
        (0..self.homes.len() as u32).try_for_each(|line| self.check_line(line))
    }
}

fn geometry() -> Geometry {
    Geometry { l1_lines: 8, l2_lines: 16, l3_lines: 32, ..Geometry::of(Model::Client) }
}

fn done(protocol: Protocol, steps: &[Do]) -> (Caches, Option<Supply>) {
    let mut caches = Caches::new(protocol, 3, 64, &geometry());
    let mut supply = None;
    for &step in steps {
        match step {
            Load(core) => supply = Some(caches.load(core, 0).1),
            Store(core) => supply = Some(caches.store(core, 0, core as u64 + 1)),
            Evict(core) => caches.evict(core, line_of(0)),
        }
        caches.check().unwrap();
    }
    (caches, supply)
}

#[test]
fn the_protocols_step_by_step() {
    use Protocol::{Mesi, Mesif, Moesi};
    let rows = [
        Row("a lone reader", Mesi, &[Load(0)], [E, I, I], [1, 0, 0, 0, 0, 0]),
        Row("who writes silently", Mesi, &[Load(0), Store(0)], [M, I, I], [1, 0, 0, 0, 0, 0]),
        Row("read from a writer", Mesi, &[Store(0), Load(1)], [S, S, I], [1, 1, 0, 0, 1, 0]),
        Row("then written", Mesi, &[Store(0), Load(1), Store(1)], [I, M, I], [1, 1, 1, 1, 1, 0]),
        Row(
            "a silent eviction",
            Mesi,
            &[Load(0), Load(1), Evict(1), Store(0)],
            [M, I, I],
            [1, 0, 1, 1, 0, 1],
        ),
        Row("write to write", Mesi, &[Store(0), Store(1)], [I, M, I], [1, 1, 0, 1, 0, 0]),
        Row("an exclusive leaves clean", Mesi, &[Load(0), Evict(0), Load(1)], [I, E, I], [1, 0, 0, 0, 0, 0]),
        Row("a modified leaves", Mesi, &[Store(0), Evict(0), Load(1)], [I, E, I], [1, 0, 0, 0, 1, 0]),
        Row("the owner answers", Moesi, &[Store(0), Load(1), Load(2)], [O, S, S], [1, 2, 0, 0, 0, 0]),
        Row("a sharer writes", Moesi, &[Store(0), Load(1), Load(2), Store(1)], [I, M, I], [1, 2, 1, 2, 0, 0]),
        Row("the owner writes", Moesi, &[Store(0), Load(1), Store(0)], [M, I, I], [1, 1, 1, 1, 0, 0]),
        Row("a stranger writes", Moesi, &[Store(0), Load(1), Store(2)], [I, I, M], [1, 2, 0, 2, 0, 0]),
        Row(
            "the owner leaves",
            Moesi,
            &[Store(0), Load(1), Load(2), Evict(0)],
            [I, S, S],
            [1, 2, 0, 0, 1, 0],
        ),
        Row("the newest forwards", Mesif, &[Load(0), Load(1), Load(2)], [S, S, F], [1, 0, 0, 0, 0, 2]),
        Row(
            "without a forwarder",
            Mesif,
            &[Load(0), Load(1), Load(2), Evict(2), Evict(0), Load(0)],
            [F, S, I],
            [1, 0, 0, 0, 0, 2],
        ),
        Row("modified is written back", Mesif, &[Store(0), Load(1)], [S, F, I], [1, 1, 0, 0, 1, 0]),
        Row("a forwarder writes", Mesif, &[Load(0), Load(1), Store(1)], [I, M, I], [1, 0, 1, 1, 0, 1]),
    ];
    for Row(what, protocol, steps, states, counts) in rows {
        let (caches, _) = done(protocol, steps);
        let c = &caches.counters;
        assert_eq!([0, 1, 2].map(|core| caches.state(core, 0)), states, "{what}");
        let found = [c.memory_reads, c.hitm, c.upgrades, c.invalidations, c.write_backs, c.forwards];
        assert_eq!(found, counts, "{what}: {c:?}");
    }
}

#[test]
fn the_shared_cache_answers_when_no_core_does() {
    let steps = [Store(0), Load(1), Load(2), Evict(0), Load(0)];
    assert_eq!(done(Protocol::Moesi, &steps).1, Some(Supply::L3));
    let steps = [Load(0), Load(1), Load(2), Evict(2), Evict(0), Load(0)];
    assert_eq!(done(Protocol::Mesif, &steps).1, Some(Supply::L3));
    assert_eq!(done(Protocol::Mesi, &[Store(0), Load(1), Load(2)]).1, Some(Supply::L3));
}

#[test]
fn transitions_are_counted() {
    let (caches, _) = done(Protocol::Moesi, &[Load(0), Store(0), Load(1), Store(1)]);
    // I to E, E to M, M to O, I to S, O to I, S to M.
    assert_eq!(caches.counters.transitions, 6);
}

#[test]
fn a_breach_is_found() {
    let (mut caches, _) = done(Protocol::Mesi, &[Load(0), Load(1)]);
    let slot = caches.private[0].find(0).unwrap();
    caches.private[0].copies[slot].state = M;
    assert!(caches.check_line(0).unwrap_err().contains("beside one in M or E"));
    caches.private[0].copies[slot].state = S;
    caches.private[0].copies[slot].data[3] = 1;
    assert!(caches.check().unwrap_err().contains("differ"));
}

proptest! {
    /// The caches are smaller than the set of lines, so lines are evicted all the time.
    #[test]
    fn a_read_returns_the_last_write(
        steps in prop::collection::vec((0..5_usize, 0..96_u64, 0..8_u64, 0..8_u8), 1..300),
        protocol in prop::sample::select(vec![Protocol::Mesi, Protocol::Mesif, Protocol::Moesi]),
    ) {
        let mut caches = Caches::new(protocol, 5, 96 * 64, &geometry());
        let mut naive = vec![0; 96 * 8];
        for (index, (core, line, word, what)) in steps.into_iter().enumerate() {
            // A few lines are requested often.
            let line = if what % 2 == 0 { line % 3 } else { line };
            let address = line * 64 + word * 8;
            let place = (address / 8) as usize;
            match what {
                0..=3 => {
                    caches.store(core, address, index as u64 + 1);
                    naive[place] = index as u64 + 1;
                }
                4..=6 => prop_assert_eq!(caches.load(core, address).0, naive[place]),
                _ => caches.evict(core, line_of(address)),
            }
            prop_assert_eq!(caches.check(), Ok(()));
        }
        for (place, value) in naive.into_iter().enumerate() {
            prop_assert_eq!(caches.load(place % 5, place as u64 * 8).0, value);
        }
    }
}
