//! The table against the makers' encodings, written down a second time, ordered by processor.

use super::super::processor::Family::{
    Haswell, HaswellServer, IceLakeServer, SapphireRapids, Skylake, SkylakeServer, Zen2, Zen3, Zen4,
};
use super::*;
use std::collections::HashSet;

fn config(quantity: &str, family: Family) -> Option<(u64, u64)> {
    let row = rows().find(|row| row.quantity == quantity).unwrap();
    let attribute = row.on(family)?.event().unwrap().attribute;
    Some((attribute.config, attribute.config1))
}

/// Event, unit mask, counter mask.
fn umask(event: u64, mask: u64, cycles: u64) -> Option<(u64, u64)> {
    Some((event | mask << 8 | cycles << 24, 0))
}

#[test]
fn the_events_of_haswell() {
    for family in [Haswell, HaswellServer] {
        for (quantity, expected) in [
            ("lock-loads", umask(0xD0, 0x21, 0)),
            ("store-stalls", umask(0xA2, 0x08, 0)),
            ("no-execute", umask(0xA3, 0x04, 4)),
            ("hitm-loads", umask(0xD2, 0x04, 0)),
            ("l1-miss-stalls", umask(0xA3, 0x0C, 12)),
            ("l2-miss-stalls", umask(0xA3, 0x05, 5)),
            ("load-stalls", umask(0xA3, 0x06, 6)),
            ("l3-miss-stalls", None),
            ("store-bound", None),
            ("fill-buffers-full", umask(0x48, 0x02, 1)),
            ("rfo-hitm", Some((0x01B7, 0x10003C0002))),
            ("line-locked", umask(0x63, 0x02, 0)),
            ("bus-locks", umask(0xF4, 0x10, 0)),
            ("prefetches-w", None),
        ] {
            assert_eq!(config(quantity, family), expected, "{quantity}");
        }
    }
    assert_eq!(config("remote-hitm-loads", Haswell), None);
    assert_eq!(config("remote-hitm-loads", HaswellServer), umask(0xD3, 0x10, 0));
    assert_eq!(config("rfo-remote-hitm", HaswellServer), Some((0x01B7, 0x103FC00002)));
}

#[test]
fn the_events_of_the_lakes() {
    for family in [SkylakeServer, IceLakeServer, SapphireRapids] {
        for (quantity, expected) in [
            ("lock-loads", umask(0xD0, 0x21, 0)),
            ("store-stalls", umask(0xA2, 0x08, 0)),
            ("no-execute", umask(0xA3, 0x04, 4)),
            ("hitm-loads", umask(0xD2, 0x04, 0)),
            ("remote-hitm-loads", umask(0xD3, 0x04, 0)),
            ("loads", umask(0xD0, 0x81, 0)),
            ("stores", umask(0xD0, 0x82, 0)),
            ("l3-misses", umask(0xD1, 0x20, 0)),
            ("l3-miss-stalls", umask(0xA3, 0x06, 6)),
            ("fill-buffers-full", umask(0x48, 0x02, 0)),
            ("l2-rfo", umask(0x24, 0xE2, 0)),
            ("ordering-clears", umask(0xC3, 0x02, 0)),
        ] {
            assert_eq!(config(quantity, family), expected, "{quantity} {family}");
        }
    }
    assert_eq!(config("load-stalls", SkylakeServer), umask(0xA3, 0x14, 20));
    assert_eq!(config("load-stalls", SapphireRapids), umask(0xA6, 0x21, 5));
    assert_eq!(config("store-bound", SkylakeServer), umask(0xA6, 0x40, 0));
    assert_eq!(config("store-bound", IceLakeServer), umask(0xA6, 0x40, 2));
    assert_eq!(config("rfo-hitm", SapphireRapids), Some((0x012A, 0x10003C0002)));
    assert_eq!(config("rfo-remote-hitm", IceLakeServer), None);
    assert_eq!(config("rfo-offcore", SapphireRapids), umask(0x21, 0x04, 0));
    assert_eq!(config("bus-locks", SapphireRapids), umask(0x2C, 0x10, 0));
    assert_eq!(config("page-walks", SapphireRapids), umask(0x12, 0x0E, 0));
    assert_eq!(config("prefetches-w", IceLakeServer), umask(0x32, 0x08, 0));
    assert_eq!(config("prefetches-w", SapphireRapids), umask(0x40, 0x08, 0));
    assert_eq!(config("remote-hitm-loads", Skylake), None, "one socket has no other");
}

#[test]
fn the_events_of_zen() {
    for (quantity, on) in [
        ("lock-loads", [umask(0x25, 0x0E, 0), umask(0x25, 0x0E, 0), None]),
        ("store-stalls", [umask(0xAE, 0x04, 0); 3]),
        ("no-execute", [None, None, umask(0xD6, 0x02, 0)]),
        ("hitm-loads", [None; 3]),
        ("cache-fills", [umask(0x43, 0x02, 0); 3]),
        ("near-fills", [None, umask(0x43, 0x04, 0), umask(0x43, 0x04, 0)]),
        ("far-fills", [umask(0x43, 0x10, 0); 3]),
        ("l2-upgrades", [umask(0x60, 0x08, 0); 3]),
        ("prefetches-t0", [umask(0x4B, 0x01, 0); 3]),
        ("load-stalls", [None, None, umask(0xD6, 0xA2, 0)]),
    ] {
        for (family, expected) in [Zen2, Zen3, Zen4].into_iter().zip(on) {
            assert_eq!(config(quantity, family), expected, "{quantity} {family}");
        }
    }
}

#[test]
fn names_are_one_quantitys_and_codes_one_events() {
    let mut names = HashSet::new();
    for row in rows() {
        assert!(names.insert(row.quantity), "{}", row.quantity);
        for name in row.names().collect::<HashSet<_>>() {
            assert!(names.insert(name), "{name} is the name of two quantities");
            assert_eq!(name, name.to_lowercase());
        }
    }
    for family in
        [Haswell, HaswellServer, Skylake, SkylakeServer, IceLakeServer, SapphireRapids, Zen2, Zen3, Zen4]
    {
        let mut codes = HashSet::new();
        for code in rows().filter_map(|row| row.on(family)) {
            assert!(codes.insert(code.written()), "{family}: {} twice", code.name());
        }
    }
}
