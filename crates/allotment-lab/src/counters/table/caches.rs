//! Loads and stores, the level of cache that loads hit or missed, and cycles in which the core
//! executed nothing while it waited for loads.

use super::{BEFORE_LAST, Expected, HASWELLS, INTEL, LAKES, LAST, Row, SKYLAKES, ZENS, code, row};
use crate::counters::Family::{SapphireRapids, Zen4};

pub(super) const ROWS: &[Row] = &[
    row(
        "loads",
        "loads that retired (AMD: dispatched)",
        Expected::MANY,
        &[
            (HASWELLS, code("mem_uops_retired.all_loads", 0x81D0)),
            (LAKES, code("mem_inst_retired.all_loads", 0x81D0)),
            // An addition to memory is both; it has a third mask.
            (ZENS, code("ls_dispatch.ld_dispatch", 0x0129)),
        ],
    ),
    row(
        "stores",
        "stores that retired (AMD: dispatched)",
        Expected::MANY,
        &[
            (HASWELLS, code("mem_uops_retired.all_stores", 0x82D0)),
            (LAKES, code("mem_inst_retired.all_stores", 0x82D0)),
            (ZENS, code("ls_dispatch.store_dispatch", 0x0229)),
        ],
    ),
    row(
        "load-op-stores",
        "loads and stores of one instruction, dispatched",
        Expected::MANY,
        &[(ZENS, code("ls_dispatch.ld_st_dispatch", 0x0429))],
    ),
    row(
        "l1-hits",
        "loads that hit L1",
        Expected::MANY,
        &[
            (HASWELLS, code("mem_load_uops_retired.l1_hit", 0x01D1)),
            (LAKES, code("mem_load_retired.l1_hit", 0x01D1)),
        ],
    ),
    row(
        "l1-misses",
        "loads that missed L1",
        Expected::SELDOM,
        &[
            (HASWELLS, code("mem_load_uops_retired.l1_miss", 0x08D1)),
            (LAKES, code("mem_load_retired.l1_miss", 0x08D1)),
        ],
    ),
    row(
        "l2-hits",
        "loads that hit L2",
        Expected::SELDOM,
        &[
            (HASWELLS, code("mem_load_uops_retired.l2_hit", 0x02D1)),
            (LAKES, code("mem_load_retired.l2_hit", 0x02D1)),
        ],
    ),
    row(
        "l2-misses",
        "loads that missed L2",
        Expected::SELDOM,
        &[
            (HASWELLS, code("mem_load_uops_retired.l2_miss", 0x10D1)),
            (LAKES, code("mem_load_retired.l2_miss", 0x10D1)),
        ],
    ),
    row(
        "l3-hits",
        "loads that hit L3",
        Expected::SELDOM,
        &[
            (HASWELLS, code("mem_load_uops_retired.l3_hit", 0x04D1)),
            (LAKES, code("mem_load_retired.l3_hit", 0x04D1)),
        ],
    ),
    row(
        "l3-misses",
        "loads that missed L3",
        Expected::SELDOM,
        &[
            (HASWELLS, code("mem_load_uops_retired.l3_miss", 0x20D1)),
            (LAKES, code("mem_load_retired.l3_miss", 0x20D1)),
        ],
    ),
    row(
        "l1-replacements",
        "lines brought into L1, by whatever",
        Expected::SELDOM,
        &[(INTEL, code("l1d.replacement", 0x0151))],
    ),
    row(
        "l1-miss-stalls",
        "cycles without execution while a load missed L1",
        Expected::CYCLES,
        &[
            (HASWELLS, code("cycle_activity.stalls_l1d_pending", 0x0C00_0CA3)),
            (LAKES, code("cycle_activity.stalls_l1d_miss", 0x0C00_0CA3)),
        ],
    ),
    row(
        "l2-miss-stalls",
        "cycles without execution while a load missed L2",
        Expected::CYCLES,
        &[
            (HASWELLS, code("cycle_activity.stalls_l2_pending", 0x0500_05A3)),
            (LAKES, code("cycle_activity.stalls_l2_miss", 0x0500_05A3)),
        ],
    ),
    row(
        "l3-miss-stalls",
        "cycles without execution while a load missed L3",
        Expected::CYCLES,
        &[(LAKES, code("cycle_activity.stalls_l3_miss", 0x0600_06A3))],
    ),
    row(
        "load-stalls",
        "cycles without execution while any load was pending",
        Expected::CYCLES,
        &[
            (HASWELLS, code("cycle_activity.stalls_ldm_pending", 0x0600_06A3)),
            (BEFORE_LAST, code("cycle_activity.stalls_mem_any", 0x1400_14A3)),
            (&[SapphireRapids], code("exe_activity.bound_on_loads", 0x0500_21A6)),
            (&[Zen4], code("ex_no_retire.load_not_complete", 0xA2D6)),
        ],
    ),
    row(
        "store-bound",
        "cycles without execution while the store buffer was full",
        Expected::CYCLES,
        &[
            (SKYLAKES, code("exe_activity.bound_on_stores", 0x40A6)),
            (LAST, code("exe_activity.bound_on_stores", 0x0200_40A6)),
        ],
    ),
    row(
        "fill-buffers-full",
        "times at which a load found no fill buffer",
        Expected::CYCLES,
        &[
            (HASWELLS, code("l1d_pend_miss.fb_full", 0x0100_0248)),
            (LAKES, code("l1d_pend_miss.fb_full", 0x0248)),
        ],
    ),
    row(
        "l1-misses-pending",
        "misses of L1 that were pending, summed over cycles",
        Expected::ANY,
        &[(INTEL, code("l1d_pend_miss.pending", 0x0148))],
    ),
];
