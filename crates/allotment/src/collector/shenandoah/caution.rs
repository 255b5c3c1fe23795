//! How early cycles begin because earlier ones came too late.
//!
//! Four numbers say it. Each grows at once after a cycle that came too late, and shrinks with
//! cycles in time. All have bounds, so neither a bad moment nor a good one lasts for ever.
//!
//! ```text
//!            unit                 too late               in time
//! margin     deviations           + 0.1, full + 0.2      by what was free at the end
//! threshold  deviations           - 0.1, full - 0.2      by what was free at the end
//! penalty    percent of capacity  + 10, full + 20        - 1/8, at least 1
//! demand     bytes                twice what was taken   - 1/16 of what was not taken
//! ```
//!
//! Margin, threshold and penalty are HotSpot's (`shenandoahAdaptiveHeuristics.cpp`,
//! `shenandoahHeuristics.cpp`). There the penalty shrinks by 1 a cycle. After ten failures in a row
//! that is a hundred cycles which follow each other without a break.
//!
//! The demand is ours: the bytes that mutators took while a cycle ran, of the recent cycle in which
//! they took most. Rates cannot tell it. They fade within a second, and a program whose bursts are
//! a second apart would fail in each. The demand fades with cycles, not with time.
//!
//! Numbers only.

/// Deviations of margin and threshold at first, and the least and the most.
const MARGIN: f64 = 1.8;
const LEAST_MARGIN: f64 = 0.319;
const MOST_MARGIN: f64 = 3.291;
/// Free memory after a cycle that is less unusual than this, in deviations, changes nothing.
const USUAL: f64 = 0.5;
/// The part of its score by which free memory after a cycle changes a margin.
const SCORE_PART: f64 = 100.0;
/// The most that one cycle in time changes a margin, in deviations.
const MOST_STEP: f64 = 0.1;
/// The most that the penalty can be, in percent of the capacity.
const MOST_PENALTY: usize = 100;
/// A cycle in time takes back one part in this many of the penalty.
const PENALTY_FADES: usize = 8;
/// A cycle in time takes back one part in this many of the demand that it did not see.
const DEMAND_FADES: usize = 16;
/// A cycle that came too late has not seen how much mutators would have taken: it is assumed to be
/// this many times what they could take.
const UNSEEN: usize = 2;

/// How late a cycle came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lateness {
    /// It was finished in a stop.
    Degenerated,
    /// A full collection took its place.
    Full,
}

impl Lateness {
    /// Deviations that it adds to the margins, and percent of the capacity that it adds to the
    /// penalty.
    fn costs(self) -> (f64, usize) {
        match self {
            Lateness::Degenerated => (0.1, 10),
            Lateness::Full => (0.2, 20),
        }
    }
}

/// The numbers by which cycles begin earlier.
#[derive(Clone, Copy, Debug)]
pub(super) struct Caution {
    /// Deviations that the times and rates of cycles are above their means.
    pub(super) margin: f64,
    /// Deviations above which a rate is unusual.
    pub(super) threshold: f64,
    /// Percentage of the capacity that the headroom lacks.
    pub(super) penalty: usize,
    /// Bytes that mutators may take while a cycle runs, as recent cycles have shown.
    pub(super) demand_bytes: usize,
}

impl Caution {
    /// Before the first cycle.
    pub(super) fn new() -> Caution {
        Caution { margin: MARGIN, threshold: MARGIN, penalty: 0, demand_bytes: 0 }
    }

    /// Learns from a cycle that came too late. Mutators took `taken_bytes` until they had to wait.
    pub(super) fn too_late(&mut self, lateness: Lateness, taken_bytes: usize, capacity_bytes: usize) {
        let (step, penalty) = lateness.costs();
        self.widen_margin(step);
        self.lower_threshold(step);
        self.penalty = (self.penalty + penalty).min(MOST_PENALTY);
        self.demand_bytes = self.demand_bytes.max(taken_bytes.saturating_mul(UNSEEN)).min(capacity_bytes);
    }

    /// Learns from a cycle in time. If mutators had to wait (`was_behind`), it was nearly too late,
    /// and nothing shrinks.
    pub(super) fn in_time(&mut self, was_behind: bool, taken_bytes: usize, capacity_bytes: usize) {
        if !was_behind {
            let fades = (self.penalty / PENALTY_FADES).max(1);
            self.penalty = self.penalty.saturating_sub(fades);
            let unseen = self.demand_bytes.saturating_sub(taken_bytes);
            self.demand_bytes -= unseen.div_ceil(DEMAND_FADES);
        }
        self.demand_bytes = self.demand_bytes.max(taken_bytes).min(capacity_bytes);
    }

    /// The step by which free memory at the end of a cycle changes a margin. `score`: how many
    /// deviations it is above the usual.
    pub(super) fn step_for(score: f64) -> f64 {
        let counts = score.is_finite() && score.abs() > USUAL;
        if counts { (-score / SCORE_PART).clamp(-MOST_STEP, MOST_STEP) } else { 0.0 }
    }

    /// Adds to the margin. A positive step makes cycles begin earlier.
    pub(super) fn widen_margin(&mut self, step: f64) {
        self.margin = (self.margin + step).clamp(LEAST_MARGIN, MOST_MARGIN);
    }

    /// Subtracts from the threshold. A positive step makes cycles begin earlier.
    pub(super) fn lower_threshold(&mut self, step: f64) {
        self.threshold = (self.threshold - step).clamp(LEAST_MARGIN, MOST_MARGIN);
    }
}
