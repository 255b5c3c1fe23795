//! Walks of page tables, and software prefetches.

use super::{BEFORE_LAST, BEFORE_RAPIDS, Expected, Row, ZENS, code, row};
use crate::counters::Family::SapphireRapids;

pub(super) const ROWS: &[Row] = &[
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
