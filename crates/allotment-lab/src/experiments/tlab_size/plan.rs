//! The heap that a case needs: its size, its regions, its options.

use super::super::buffers::{region_bytes, tlab_size};
use super::super::memory;
use crate::format::phrase::count;
use crate::harness::Case;
use crate::machine::topology;
use allotment::heap::MAX_HEAP_BYTES;
use anyhow::{Context, bail, ensure};

/// Bytes that may stay empty at the end of a region where the policy chooses: less than
/// MinTLABSize, which is below this value by default.
const REGION_TAIL_BYTES: usize = 16 << 10;

/// The smallest average size of grown buffers where the policy chooses, in bytes.
const GROWN_BYTES: usize = 64 << 10;

/// Everything that is decided before a heap is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShotPlan {
    /// Objects of each thread.
    pub(super) objects: usize,
    /// Threads that fill the heap.
    threads: usize,
    /// Bytes of the heap: all objects, and the memory that buffers and regions may leave unused.
    heap: usize,
    /// Bytes of a region: the heap's own choice, or a buffer if that is larger.
    region: usize,
    /// The options, as a user writes them.
    pub(super) options: String,
    /// Whether threads take memory by compare-and-swap, so that its attempts have a meaning.
    pub(super) compares_and_swaps: bool,
}

impl ShotPlan {
    /// The heap for a case.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn of(case: &Case) -> anyhow::Result<ShotPlan> {
        let (objects, bytes) = (case.size("objects")?, case.size("size")?);
        let tlab = if case.mode == "fixed" { case.size("tlab")? } else { 0 };
        let policy = match case.mode.as_str() {
            "fixed" => format!("TLABSize={0},MinTLABSize={0},-ResizeTLAB", tlab_size(tlab, bytes)?),
            "elastic" => "TLABPolicy=epsilon".into(),
            "adaptive" => "TLABPolicy=adaptive".into(),
            "no-tlab" => "-UseTLAB".into(),
            "no-tlab-lock" => "-UseTLAB,RefillStrategy=lock".into(),
            other => bail!("there is no mode `{other}`"),
        };
        ensure!(objects > 0, "zero objects are not a shot");
        let too_many = || format!("{objects} objects a thread: more than the largest heap holds");
        let all = objects.checked_mul(bytes).and_then(|bytes| bytes.checked_mul(case.threads));
        let all = all.filter(|&all| all < MAX_HEAP_BYTES / 2).with_context(too_many)?;
        let region = region_bytes(all, tlab)?;
        let usable = match case.mode.as_str() {
            "fixed" => region / tlab * (tlab / bytes * bytes),
            "elastic" | "adaptive" => region - REGION_TAIL_BYTES - region / GROWN_BYTES * bytes,
            _ => region / bytes * bytes,
        };
        // Every core may have an open region; every thread may have one open region and one in
        // hand.
        let begun = topology().cpus().len() + 2 * case.threads + 8;
        let heap = (all.div_ceil(usable) + begun) * region;
        let touched = if case.switch("pretouch")? {
            format!(",+AlwaysPreTouch,InitialHeapSize={heap}")
        } else {
            String::new()
        };
        let options = format!("MaxHeapSize={heap},RegionSize={region},{policy}{touched}");
        let compares_and_swaps = case.mode != "no-tlab-lock";
        Ok(ShotPlan { objects, threads: case.threads, heap, region, options, compares_and_swaps })
    }

    /// Checks that heap and arrays fit into this machine's memory.
    ///
    /// # Errors
    /// Gives the needed and the available bytes.
    pub(super) fn fits(&self) -> anyhow::Result<()> {
        let what = format!(
            "{} on {}, heap and arrays,",
            count(self.objects, "object"),
            count(self.threads, "thread")
        );
        memory::fits(&what, self.needed(), "fewer --objects")
    }

    /// Bytes of heap and arrays.
    fn needed(&self) -> usize {
        self.heap.saturating_add(self.array_bytes().saturating_mul(self.threads))
    }

    /// Bytes of a thread's array of references.
    fn array_bytes(&self) -> usize {
        self.objects.saturating_mul(size_of::<usize>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{JmhMode, TimeUnit};
    use allotment::Heap;

    fn case(mode: &str, objects: usize, tlab: usize, pretouch: &str) -> Case {
        let params = [
            ("objects", objects.to_string()),
            ("size", "16".into()),
            ("pretouch", pretouch.into()),
            ("tlab", tlab.to_string()),
        ];
        Case {
            experiment: "tlab-size".into(),
            mode: mode.into(),
            jmh_mode: JmhMode::SingleShot,
            unit: TimeUnit::Milliseconds,
            threads: 2,
            params: params.map(|(name, value)| (name.into(), value)).into(),
        }
    }

    #[test]
    fn a_heap_takes_the_options_as_planned() {
        for mode in ["fixed", "elastic", "adaptive", "no-tlab", "no-tlab-lock"] {
            for tlab in [1 << 10, 4 << 20, 32 << 20] {
                let plan = ShotPlan::of(&case(mode, 100_000, tlab, "off")).unwrap();
                let heap = Heap::builder().options(&plan.options).unwrap().build().unwrap();
                assert_eq!(
                    (heap.geometry().heap_bytes(), heap.geometry().region_bytes()),
                    (plan.heap, plan.region)
                );
                let least = heap.options().rows().find(|row| row.info.name == "MinTLABSize").unwrap();
                assert_eq!(
                    mode == "fixed",
                    least.value == (tlab - 16).to_string(),
                    "{mode}: {}",
                    least.value
                );
            }
        }
    }

    #[test]
    fn a_region_holds_a_buffer_and_is_else_the_heaps_choice() {
        let region = |mode, tlab| ShotPlan::of(&case(mode, 50_000_000, tlab, "off")).unwrap().region;
        assert_eq!(region("adaptive", 4 << 20), 512 << 10);
        assert_eq!(
            [1 << 10, 256 << 10, 1 << 20, 4 << 20].map(|tlab| region("fixed", tlab)),
            [512 << 10, 512 << 10, 1 << 20, 4 << 20]
        );
    }

    #[test]
    fn memory_is_counted_with_the_arrays() {
        let plan = ShotPlan::of(&case("no-tlab", 1_000_000, 0, "on")).unwrap();
        assert_eq!(plan.needed(), plan.heap + 2 * 8_000_000);
        assert!(plan.heap > 32_000_000 && plan.options.contains("+AlwaysPreTouch"));
        plan.fits().unwrap();
        let many = ShotPlan::of(&case("no-tlab", 500_000_000_000, 0, "on")).unwrap();
        let error = many.fits().unwrap_err().to_string();
        assert!(
            error.contains("500000000000 objects on 2 threads, heap and arrays, need")
                && error.contains("fewer --objects fit"),
            "{error}"
        );
    }
}
