//! Shenandoah's limits before and after JDK-8359947.

use super::*;
use crate::tlab::sizing::shenandoah::{max_tlab_size_8359947, tlab_size_8359947};

#[test]
fn limits_by_region_size() {
    // region, largest and first buffer after the change, in KiB
    let table = [
        (256, 256, 32),
        (512, 256, 32),
        (1024, 256, 32),
        (2048, 256, 32),
        (8192, 256, 32),
        (16384, 512, 64),
        (32768, 1024, 128),
    ];
    for (region, max, first) in table.map(|(region, max, first)| (region * KIB, max * KIB, first * KIB)) {
        assert_eq!(max_tlab_size_8359947(region), max, "region {region}");
        assert_eq!(tlab_size_8359947(region), first, "region {region}");
        let (after, _, sizing) = start(&settings(TlabPolicy::Shenandoah8359947, 64 * GIB, region));
        assert_eq!((after.max_tlab_size, sizing.desired_size), (max, first));
        // 2 % of 64 GiB: a whole region of any size
        let (before, _, sizing) = start(&settings(TlabPolicy::Shenandoah, 64 * GIB, region));
        assert_eq!((before.max_tlab_size, sizing.desired_size), (region, region));
    }
}

#[test]
fn a_tiny_region_bounds_the_first_buffer_too() {
    let (config, _, sizing) = start(&settings(TlabPolicy::Shenandoah8359947, GIB, 8 * KIB));
    assert_eq!((config.max_tlab_size, sizing.desired_size), (8 * KIB, 8 * KIB));
}

#[test]
fn what_the_user_gives_wins() {
    let given = |policy| Settings {
        tlab_size: 100 * KIB,
        max_tlab_size: 2 * MIB,
        allocation_weight: Some(60),
        ..settings(policy, GIB, 4 * MIB)
    };
    for policy in [TlabPolicy::Shenandoah, TlabPolicy::Shenandoah8359947] {
        let (config, _, sizing) = start(&given(policy));
        assert_eq!((config.max_tlab_size, sizing.desired_size), (2 * MIB, 100 * KIB));
        assert_eq!(config.allocation_weight, 60);
    }
}

#[test]
fn newer_cycles_weigh_more_before_the_change() {
    for (policy, weight) in
        [(TlabPolicy::Shenandoah, 90), (TlabPolicy::Shenandoah8359947, 35), (TlabPolicy::Hotspot, 35)]
    {
        assert_eq!(Config::new(&settings(policy, GIB, MIB)).allocation_weight, weight, "{policy}");
    }
}
