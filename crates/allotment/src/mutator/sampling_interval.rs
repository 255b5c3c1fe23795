//! Sampling as the embedder sets it, and what it counted. The points themselves are in [`sampling`](super::sampling), which knows
//! no mutator, for a mutator's state holds it.

use super::Mutator;

impl Mutator<'_> {
    /// From here on passes a sampling point every `bytes` allocated, as soon as more than that are; 0: none.
    /// The fast path costs the same either way.
    pub fn set_sampling_interval(&mut self, bytes: usize) {
        let state = self.state();
        state.sampling.restart(&state.hot, bytes);
        state.arm();
    }

    /// Sampling points this thread has passed since it attached.
    pub fn sampling_points(&self) -> u64 {
        self.state().sampling.passed()
    }
}
