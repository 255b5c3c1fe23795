//! The numbers under a score: mean, error, percentiles and ratios, computed as JMH computes them.
//!
//! This is the lowest layer: it knows neither cases nor clocks, only slices of `f64`. It uses JMH's
//! formulas, even where better ones exist, because a score printed here stands next to one from a Java virtual
//! machine. The one addition is [`Ratio`], since "how many times faster" is the question of most
//! experiments.

mod distribution;
mod percentiles;
mod ratio;
mod student;
mod summary;

pub use distribution::{curve, distribution};
pub use percentiles::{JMH_PERCENTILES, Weighted, percentile, percentiles};
pub use ratio::Ratio;
pub use student::t_quantile;
pub use summary::{CONFIDENCE, Summary};
