//! Events that only some processors have, by their makers' names and codes.
//!
//! A code is what `perf` calls a raw event: event number in bits 0-7 (AMD's bits 8-11 of it in bits 32-35), unit mask in 8-15,
//! counter mask in 24-31; an off-core event has a second value. From Intel's published tables of events
//! (github.com/intel/perfmon: HSW, HSX, SKX, ICX, SPR) and from Linux' for AMD (tools/perf/pmu-events/arch/x86/amdzen2 to 4).
//! One table and a name for each quantity, since makers rename events, and the same code may mean another thing on the next
//! processor: 0x060006a3 is all pending loads on Haswell, and misses of L3 on Skylake.

use super::Expected;
use super::processor::Family::{
    self, Haswell, HaswellServer, IceLakeServer, SapphireRapids, Skylake, SkylakeServer, Zen2, Zen3, Zen4,
};

/// An event of one maker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// Its maker's name, in lower case.
    pub name: &'static str,
    /// Event, unit mask, counter mask.
    pub config: u64,
    /// Which requests, of an off-core event.
    pub config1: u64,
}

/// A quantity, and what it is on which processor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Its name here, the same on all processors.
    pub quantity: &'static str,
    /// What it counts, in words.
    pub what: &'static str,
    /// Whether `--counters` has it without being told.
    pub auto: bool,
    /// What a locked addition makes it count.
    pub expected: Expected,
    codes: &'static [(&'static [Family], Code)],
}

impl Row {
    /// The event on that processor.
    pub fn on(&self, family: Family) -> Option<Code> {
        self.codes.iter().find(|(families, _)| families.contains(&family)).map(|(_, code)| *code)
    }

    /// All events of that quantity.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.codes.iter().map(|(_, code)| code.name)
    }
}

/// The table.
pub fn rows() -> &'static [Row] {
    ROWS
}

const HASWELLS: &[Family] = &[Haswell, HaswellServer];
const SKYLAKES: &[Family] = &[Skylake, SkylakeServer];
const BEFORE_RAPIDS: &[Family] = &[Haswell, HaswellServer, Skylake, SkylakeServer, IceLakeServer];
const LAKES: &[Family] = &[Skylake, SkylakeServer, IceLakeServer, SapphireRapids];
const BEFORE_LAST: &[Family] = &[Skylake, SkylakeServer, IceLakeServer];
const LAST: &[Family] = &[IceLakeServer, SapphireRapids];
const INTEL: &[Family] = &[Haswell, HaswellServer, Skylake, SkylakeServer, IceLakeServer, SapphireRapids];
const ZENS: &[Family] = &[Zen2, Zen3, Zen4];

const fn code(name: &'static str, config: u64) -> Code {
    Code { name, config, config1: 0 }
}

const fn offcore(name: &'static str, config: u64, config1: u64) -> Code {
    Code { name, config, config1 }
}

/// A quantity that is counted when asked for by name.
const fn row(
    quantity: &'static str,
    what: &'static str,
    expected: Expected,
    codes: &'static [(&'static [Family], Code)],
) -> Row {
    Row { quantity, what, auto: false, expected, codes }
}

/// A quantity that is counted always.
const fn always(
    quantity: &'static str,
    what: &'static str,
    expected: Expected,
    codes: &'static [(&'static [Family], Code)],
) -> Row {
    Row { quantity, what, auto: true, expected, codes }
}

/// The modified line of another core of the socket, fetched to be written.
const HITM: u64 = 0x10_003C_0002;
/// The same of another socket.
const REMOTE_HITM: u64 = 0x10_3FC0_0002;

const ROWS: &[Row] = &[
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
    row(
        "loads",
        "loads that retired (AMD: dispatched)",
        Expected::MANY,
        &[
            (HASWELLS, code("mem_uops_retired.all_loads", 0x81D0)),
            (LAKES, code("mem_inst_retired.all_loads", 0x81D0)),
            // An addition to memory is both, a third mask.
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
    row(
        "page-walks",
        "walks of page tables for loads, completed",
        Expected::SELDOM,
        &[
            (BEFORE_RAPIDS, code("dtlb_load_misses.walk_completed", 0x0E08)),
            (&[SapphireRapids], code("dtlb_load_misses.walk_completed", 0x0E12)),
        ],
    ),
    row(
        "prefetches-nta",
        "PREFETCHNTA",
        Expected::SELDOM,
        &[
            (BEFORE_LAST, code("sw_prefetch_access.nta", 0x0132)),
            (&[SapphireRapids], code("sw_prefetch_access.nta", 0x0140)),
            (ZENS, code("ls_pref_instr_disp.prefetch_nta", 0x044B)),
        ],
    ),
    row(
        "prefetches-t0",
        "PREFETCHT0 (AMD: T0, T1 and T2)",
        Expected::SELDOM,
        &[
            (BEFORE_LAST, code("sw_prefetch_access.t0", 0x0232)),
            (&[SapphireRapids], code("sw_prefetch_access.t0", 0x0240)),
            (ZENS, code("ls_pref_instr_disp.prefetch", 0x014B)),
        ],
    ),
    row(
        "prefetches-t1-t2",
        "PREFETCHT1 and T2",
        Expected::SELDOM,
        &[
            (BEFORE_LAST, code("sw_prefetch_access.t1_t2", 0x0432)),
            (&[SapphireRapids], code("sw_prefetch_access.t1_t2", 0x0440)),
        ],
    ),
    row(
        "prefetches-w",
        "PREFETCHW",
        Expected::SELDOM,
        &[
            (BEFORE_LAST, code("sw_prefetch_access.prefetchw", 0x0832)),
            (&[SapphireRapids], code("sw_prefetch_access.prefetchw", 0x0840)),
            (ZENS, code("ls_pref_instr_disp.prefetch_w", 0x024B)),
        ],
    ),
];

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
