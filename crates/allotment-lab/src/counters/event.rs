//! Events by the names that `perf` has for them, and by code.

use super::attribute::{Attribute, CACHE, HARDWARE, SOFTWARE};
use serde::{Deserialize, Serialize};

/// An event with its label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// JMH's label for it: its name.
    pub label: String,
    /// The kernel's description of the event.
    pub attribute: Attribute,
}

/// A name of `perf`: the name, the kind, the number, and whether it is counted by default.
type Named = (&'static str, u32, u64, bool);

/// `PERF_COUNT_HW_CACHE_...`: the cache, the operation and the result.
const fn cache(cache: u64, done: u64, result: u64) -> u64 {
    cache | done << 8 | result << 16
}

/// Events that the kernel numbers, on every processor that has the event at all. The counted
/// quantity differs by processor.
const NAMED: &[Named] = &[
    ("cycles", HARDWARE, 0, true),
    ("instructions", HARDWARE, 1, true),
    ("branches", HARDWARE, 4, true),
    ("branch-misses", HARDWARE, 5, true),
    ("L1-dcache-loads", CACHE, cache(0, 0, 0), true),
    ("L1-dcache-load-misses", CACHE, cache(0, 0, 1), true),
    ("LLC-loads", CACHE, cache(2, 0, 0), true),
    ("LLC-load-misses", CACHE, cache(2, 0, 1), true),
    ("dTLB-load-misses", CACHE, cache(3, 0, 1), true),
    ("cache-references", HARDWARE, 2, false),
    ("cache-misses", HARDWARE, 3, false),
    ("bus-cycles", HARDWARE, 6, false),
    ("stalled-cycles-frontend", HARDWARE, 7, false),
    ("stalled-cycles-backend", HARDWARE, 8, false),
    ("ref-cycles", HARDWARE, 9, false),
    ("L1-dcache-stores", CACHE, cache(0, 1, 0), false),
    ("L1-dcache-store-misses", CACHE, cache(0, 1, 1), false),
    ("L1-dcache-prefetches", CACHE, cache(0, 2, 0), false),
    ("L1-icache-loads", CACHE, cache(1, 0, 0), false),
    ("L1-icache-load-misses", CACHE, cache(1, 0, 1), false),
    ("LLC-stores", CACHE, cache(2, 1, 0), false),
    ("LLC-store-misses", CACHE, cache(2, 1, 1), false),
    ("dTLB-loads", CACHE, cache(3, 0, 0), false),
    ("dTLB-stores", CACHE, cache(3, 1, 0), false),
    ("dTLB-store-misses", CACHE, cache(3, 1, 1), false),
    ("iTLB-loads", CACHE, cache(4, 0, 0), false),
    ("iTLB-load-misses", CACHE, cache(4, 0, 1), false),
    ("cpu-migrations", SOFTWARE, 4, true),
];

impl Event {
    /// The events that `perf` has names for.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMED.iter().map(|(name, ..)| *name)
    }

    /// The event of that name.
    pub fn named(name: &str) -> Option<Event> {
        let &(name, kind, config, _) = NAMED.iter().find(|(known, ..)| *known == name)?;
        // A software event counts in the kernel too: a thread is moved to another CPU while it is
        // in the kernel.
        let attribute = Attribute { kind, config, config1: 0, kernel: kind == SOFTWARE };
        Some(Event { label: name.into(), attribute })
    }

    /// An event of the processor by its code: `r21d0`, for an off-core event `r1b7:10003c0002`.
    pub fn coded(text: &str) -> Option<Event> {
        let (config, config1) =
            text.strip_prefix('r')?.split_once(':').unwrap_or((text.strip_prefix('r')?, "0"));
        let hexadecimal = |digits: &str| {
            let plain = !digits.is_empty() && digits.chars().all(|digit| digit.is_ascii_hexdigit());
            plain.then(|| u64::from_str_radix(digits, 16).ok()).flatten()
        };
        let attribute = Attribute::raw(hexadecimal(config)?, hexadecimal(config1)?);
        Some(Event { label: text.into(), attribute })
    }

    /// The events that are counted by default.
    pub fn usual() -> impl Iterator<Item = Event> {
        NAMED.iter().filter(|(.., usual)| *usual).filter_map(|(name, ..)| Event::named(name))
    }
}

#[cfg(test)]
mod tests {
    use super::super::attribute::RAW;
    use super::*;

    #[test]
    fn names_are_numbers_of_the_kernel() {
        let of = |name| Event::named(name).map(|event| (event.attribute.kind, event.attribute.config));
        assert_eq!(of("instructions"), Some((HARDWARE, 1)));
        assert_eq!(of("L1-dcache-load-misses"), Some((CACHE, 0x10000)));
        assert_eq!(of("dTLB-load-misses"), Some((CACHE, 0x10003)));
        assert_eq!(of("LLC-stores"), Some((CACHE, 0x102)));
        assert_eq!(of("cycle"), None);
        assert!(Event::named("cpu-migrations").unwrap().attribute.kernel);
        assert!(!Event::named("cycles").unwrap().attribute.kernel);
        assert!(Event::usual().count() < Event::names().count());
    }

    #[test]
    fn codes_are_hexadecimal() {
        let of = |text| Event::coded(text).map(|event| event.attribute);
        assert_eq!(of("r21d0"), Some(Attribute { kind: RAW, config: 0x21D0, config1: 0, kernel: false }));
        assert_eq!(of("r1b7:10003c0002"), Some(Attribute::raw(0x1B7, 0x10_003C_0002)));
        for wrong in ["r", "rxyz", "21d0", "r1:", "r+1", "r11112222333344445", "refills"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }
}
