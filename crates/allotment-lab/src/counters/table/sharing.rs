//! The events that are always counted, and the sources of lines that loads found: another core,
//! another complex, another socket.

use super::{Expected, HASWELLS, INTEL, LAKES, LAST, Row, SKYLAKES, ZENS, always, code, row};
use crate::counters::Family::{
    HaswellServer, IceLakeServer, SapphireRapids, SkylakeServer, Zen2, Zen3, Zen4,
};

pub(super) const ROWS: &[Row] = &[
    always(
        "lock-loads",
        "loads of locked instructions that retired",
        Expected::EACH,
        &[
            (HASWELLS, code("mem_uops_retired.lock_loads", 0x21D0)),
            (LAKES, code("mem_inst_retired.lock_loads", 0x21D0)),
            (&[Zen2, Zen3], code("ls_locks", 0x0E25)),
        ],
    ),
    always(
        "store-stalls",
        "cycles in which nothing was issued (AMD: dispatched) because stores could not be queued",
        Expected::CYCLES,
        &[
            (INTEL, code("resource_stalls.sb", 0x08A2)),
            (ZENS, code("de_dis_dispatch_token_stalls1.store_queue_rsrc_stall", 0x04AE)),
        ],
    ),
    always(
        "no-execute",
        "cycles in which nothing executed (Zen 4: nothing retired, since an operation was not complete)",
        Expected::SOME_CYCLES,
        &[
            (HASWELLS, code("cycle_activity.cycles_no_execute", 0x0400_04A3)),
            (LAKES, code("cycle_activity.stalls_total", 0x0400_04A3)),
            (&[Zen4], code("ex_no_retire.not_complete", 0x02D6)),
        ],
    ),
    always(
        "hitm-loads",
        "loads that found their line modified in another core's cache",
        Expected::SELDOM,
        &[
            (HASWELLS, code("mem_load_uops_l3_hit_retired.xsnp_hitm", 0x04D2)),
            (SKYLAKES, code("mem_load_l3_hit_retired.xsnp_hitm", 0x04D2)),
            (LAST, code("mem_load_l3_hit_retired.xsnp_fwd", 0x04D2)),
        ],
    ),
    always(
        "cache-fills",
        "lines that came from another cache of the core complex, modified or not: the nearest that AMD counts",
        Expected::SELDOM,
        &[
            (&[Zen2], code("ls_refills_from_sys.ls_mabresp_lcl_cache", 0x0243)),
            (&[Zen3], code("ls_dmnd_fills_from_sys.int_cache", 0x0243)),
            (&[Zen4], code("ls_dmnd_fills_from_sys.local_ccx", 0x0243)),
        ],
    ),
    row(
        "near-fills",
        "lines that came from the cache of another core complex of the node",
        Expected::SELDOM,
        &[
            (&[Zen3], code("ls_dmnd_fills_from_sys.ext_cache_local", 0x0443)),
            (&[Zen4], code("ls_dmnd_fills_from_sys.near_cache", 0x0443)),
        ],
    ),
    row(
        "far-fills",
        "lines that came from the cache of another node",
        Expected::SELDOM,
        &[
            (&[Zen2], code("ls_refills_from_sys.ls_mabresp_rmt_cache", 0x1043)),
            (&[Zen3], code("ls_dmnd_fills_from_sys.ext_cache_remote", 0x1043)),
            (&[Zen4], code("ls_dmnd_fills_from_sys.far_cache", 0x1043)),
        ],
    ),
    row(
        "snoop-missed-loads",
        "loads that hit L3 and asked another core in vain",
        Expected::SELDOM,
        &[
            (HASWELLS, code("mem_load_uops_l3_hit_retired.xsnp_miss", 0x01D2)),
            (LAKES, code("mem_load_l3_hit_retired.xsnp_miss", 0x01D2)),
        ],
    ),
    row(
        "snoop-clean-loads",
        "loads that hit L3 and found their line clean in another core",
        Expected::SELDOM,
        &[
            (HASWELLS, code("mem_load_uops_l3_hit_retired.xsnp_hit", 0x02D2)),
            (SKYLAKES, code("mem_load_l3_hit_retired.xsnp_hit", 0x02D2)),
            (LAST, code("mem_load_l3_hit_retired.xsnp_no_fwd", 0x02D2)),
        ],
    ),
    row(
        "unsnooped-loads",
        "loads that hit L3 and needed no other core",
        Expected::SELDOM,
        &[
            (HASWELLS, code("mem_load_uops_l3_hit_retired.xsnp_none", 0x08D2)),
            (LAKES, code("mem_load_l3_hit_retired.xsnp_none", 0x08D2)),
        ],
    ),
    row(
        "remote-hitm-loads",
        "loads that found their line modified in another socket",
        Expected::SELDOM,
        &[
            (&[HaswellServer], code("mem_load_uops_l3_miss_retired.remote_hitm", 0x10D3)),
            (
                &[SkylakeServer, IceLakeServer, SapphireRapids],
                code("mem_load_l3_miss_retired.remote_hitm", 0x04D3),
            ),
        ],
    ),
];
