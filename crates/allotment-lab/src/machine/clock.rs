//! The cost of reading the clock.

use std::time::Instant;

/// Nanoseconds for one reading of the monotonic clock: the least mean of some short series, which is
/// the cost without interruptions. The experiment `clock` measures the cost with an error.
pub fn read_cost() -> f64 {
    const READS: u32 = 2000;
    let series = |_| {
        let start = Instant::now();
        let mut last = start;
        for _ in 0..READS {
            last = Instant::now();
        }
        (last - start).as_nanos() as f64 / f64::from(READS)
    };
    (0..20).map(series).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_costs_something() {
        let cost = super::read_cost();
        assert!(cost > 0.0 && cost.is_finite(), "{cost}");
    }
}
