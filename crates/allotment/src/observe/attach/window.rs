//! Allocation profiles for a caller: of all samples so far, or of the next seconds.
//!
//! The next seconds are the difference of two profiles, between which sampling is on. Each comes
//! after a brief stop of the world, in which threads adopt the interval and hand over what they
//! sampled. So the difference has all of the window, and nothing else. Refused: an interval that no
//! other sample has, which would tell the samples of the window apart. A heap keeps the counts of
//! each interval for good.

use crate::Heap;
use crate::mutator::DEFAULT_SAMPLE_INTERVAL;
use crate::observe::AllocationProfile;
use crate::platform::Connection;
use allotment_output::OutputFile;
use std::io;
use std::time::Duration;

/// Writes the profile of all samples so far.
pub(super) fn so_far(heap: &Heap, mut file: OutputFile) -> Result<String, String> {
    let profile = heap.allocation_profile();
    if heap.shared.watch.sampler.interval() == 0 && profile.sites().is_empty() {
        return Err(format!(
            "the heap samples no allocations; --seconds 10 samples those of the next 10 seconds, and the option \
             AllocationSampleInterval={}k samples from the start",
            DEFAULT_SAMPLE_INTERVAL >> 10
        ));
    }
    profile.write(&mut file).map_err(not_written)?;
    Ok(said(&profile, profile.samples()))
}

/// Writes the profile of the next seconds.
pub(super) fn next(
    heap: &Heap,
    seconds: u64,
    interval: Option<usize>,
    mut file: OutputFile,
    caller: &Connection<'_>,
) -> Result<String, String> {
    let sampling = Sampling::begin(heap, interval);
    let before = stopped_profile(heap)?;
    if !caller.pause(Duration::from_secs(seconds)) {
        return Err("the caller hung up, or the heap ended".into());
    }
    let after = stopped_profile(heap)?;
    drop(sampling);
    after.write_since(&before, &mut file).map_err(not_written)?;
    Ok(said(&after, after.samples().saturating_sub(before.samples())))
}

/// The profile of all samples up to this moment.
fn stopped_profile(heap: &Heap) -> Result<AllocationProfile, String> {
    // `None`: another thread stopped the world first, and so all threads came to a safepoint.
    heap.stop_the_world(|_| ()).map_err(|error| error.to_string())?;
    Ok(heap.allocation_profile())
}

fn not_written(error: io::Error) -> String {
    format!("the profile cannot be written: {error}")
}

fn said(profile: &AllocationProfile, samples: u64) -> String {
    format!("{samples} samples, one in {} bytes on average\n", profile.interval())
}

/// An interval that is in force until this is dropped.
struct Sampling<'h> {
    heap: &'h Heap,
    before: usize,
    own: usize,
}

impl<'h> Sampling<'h> {
    fn begin(heap: &'h Heap, wanted: Option<usize>) -> Sampling<'h> {
        let before = heap.shared.watch.sampler.interval();
        let default = if before == 0 { DEFAULT_SAMPLE_INTERVAL } else { before };
        let own = wanted.unwrap_or(default);
        if own != before {
            heap.set_allocation_sample_interval(own);
        }
        Sampling { heap, before, own }
    }
}

impl Drop for Sampling<'_> {
    fn drop(&mut self) {
        // The program may have chosen another one meanwhile.
        if self.own != self.before && self.heap.shared.watch.sampler.interval() == self.own {
            self.heap.set_allocation_sample_interval(self.before);
        }
    }
}
