//! Lines to be written: requests for ownership, the caches that supplied the line, and the locks
//! taken for it.

use super::{BEFORE_RAPIDS, Expected, HASWELLS, INTEL, Row, SKYLAKES, ZENS, code, offcore, row};
use crate::counters::Family::{
    Haswell, HaswellServer, IceLakeServer, SapphireRapids, Skylake, SkylakeServer,
};

/// The modified line of another core of the socket, fetched to be written.
const HITM: u64 = 0x10_003C_0002;
/// The modified line of another socket, fetched to be written.
const REMOTE_HITM: u64 = 0x10_3FC0_0002;

pub(super) const ROWS: &[Row] = &[
    row(
        "l2-rfo",
        "requests for ownership at L2",
        Expected::SELDOM,
        &[(INTEL, code("l2_rqsts.all_rfo", 0xE224))],
    ),
    row(
        "l2-rfo-misses",
        "requests for ownership that missed L2",
        Expected::SELDOM,
        &[(INTEL, code("l2_rqsts.rfo_miss", 0x2224))],
    ),
    row(
        "l2-reads",
        "demand reads at L2",
        Expected::SELDOM,
        &[(INTEL, code("l2_rqsts.all_demand_data_rd", 0xE124))],
    ),
    row(
        "l2-upgrades",
        "stores that had to make a shared line their own",
        Expected::SELDOM,
        &[(ZENS, code("l2_request_g1.change_to_x", 0x0860))],
    ),
    row(
        "l2-store-requests",
        "requests at L2 for lines to be written",
        Expected::SELDOM,
        &[(ZENS, code("l2_request_g1.rd_blk_x", 0x4060))],
    ),
    row(
        "rfo-offcore",
        "requests for ownership that left the core",
        Expected::SELDOM,
        &[
            (BEFORE_RAPIDS, code("offcore_requests.demand_rfo", 0x04B0)),
            (&[SapphireRapids], code("offcore_requests.demand_rfo", 0x0421)),
        ],
    ),
    row(
        "rfo-hitm",
        "stores that found their line modified in another core of the socket",
        Expected::SELDOM,
        &[
            (HASWELLS, offcore("offcore_response.demand_rfo.l3_hit.hitm_other_core", 0x01B7, HITM)),
            (SKYLAKES, offcore("ocr.demand_rfo.l3_hit.hitm_other_core", 0x01B7, HITM)),
            (&[IceLakeServer], offcore("ocr.demand_rfo.l3_hit.snoop_hitm", 0x01B7, HITM)),
            (&[SapphireRapids], offcore("ocr.demand_rfo.l3_hit.snoop_hitm", 0x012A, HITM)),
        ],
    ),
    row(
        "rfo-remote-hitm",
        "stores that found their line modified in another socket",
        Expected::SELDOM,
        &[
            (
                &[HaswellServer],
                offcore("offcore_response.demand_rfo.llc_miss.remote_hitm", 0x01B7, REMOTE_HITM),
            ),
            (&[SkylakeServer], offcore("ocr.demand_rfo.l3_miss.remote_hitm", 0x01B7, REMOTE_HITM)),
        ],
    ),
    row(
        "line-locked",
        "cycles for which a line of L1 was locked",
        Expected::CYCLES,
        &[
            (HASWELLS, code("lock_cycles.cache_lock_duration", 0x0263)),
            (&[SapphireRapids], code("lock_cycles.cache_lock_duration", 0x0242)),
        ],
    ),
    row(
        "bus-locks",
        "locks that stopped the bus, as those of two lines do",
        Expected::SELDOM,
        &[
            (&[Haswell, HaswellServer, Skylake, SkylakeServer], code("sq_misc.split_lock", 0x10F4)),
            (&[IceLakeServer], code("sq_misc.bus_lock", 0x10F4)),
            (&[SapphireRapids], code("sq_misc.bus_lock", 0x102C)),
            (ZENS, code("ls_locks.bus_lock", 0x0125)),
        ],
    ),
    row(
        "ordering-clears",
        "pipelines cleared because another core wrote what was read too early",
        Expected::SELDOM,
        &[(INTEL, code("machine_clears.memory_ordering", 0x02C3))],
    ),
];
