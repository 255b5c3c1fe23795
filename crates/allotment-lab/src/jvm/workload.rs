//! The counterpart of a case on a JVM: the benchmark, and the settings that make the two alike.

use super::Sizes;
use std::time::Duration;

/// A benchmark in the jar, and the settings of its JVM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// Its class and method: `allotment.Allocation.allocate`.
    pub benchmark: &'static str,
    /// Its parameters.
    pub params: Vec<(&'static str, String)>,
    /// Its heap.
    pub sizes: Sizes,
    /// Further flags that make it like the lab's case.
    pub flags: Vec<String>,
    /// Flags for Shenandoah alone, each with the last feature release that has it.
    pub shenandoah: Vec<(String, u32)>,
    /// Whether the JVM runs without thread-local buffers.
    pub without_buffers: bool,
    /// Bytes that each shot leaves behind if nothing is ever freed; `None` if the workload needs a
    /// collector.
    pub kept: Option<usize>,
    /// The number of operations of a call, where only the parameters determine it.
    pub operations: Option<u64>,
    /// The profiler of JMH whose rows belong to the benchmark: a class in the jar.
    pub profiler: Option<&'static str>,
    /// The longest time of a shot that is a whole run, with a warm-up of its own. Such a benchmark
    /// has no other warm-up than the lab's case. `None` for any other benchmark.
    pub whole: Option<Duration>,
    /// The differences from the lab's case, a sentence each.
    pub differs: &'static [&'static str],
}

impl Workload {
    /// A benchmark without parameters in a heap of `heap` bytes. The heap has its full size from
    /// the beginning and lies in huge pages, as the lab's heap does.
    pub fn new(benchmark: &'static str, heap: usize) -> Workload {
        Workload {
            benchmark,
            params: Vec::new(),
            sizes: Sizes { heap, eden: None },
            flags: vec!["-XX:+UseTransparentHugePages".into()],
            shenandoah: Vec::new(),
            without_buffers: false,
            kept: None,
            operations: None,
            profiler: None,
            whole: None,
            differs: &[],
        }
    }

    /// Sets a parameter.
    #[must_use]
    pub fn param(mut self, name: &'static str, value: impl ToString) -> Workload {
        self.params.push((name, value.to_string()));
        self
    }

    /// Sets the bytes allocated between two young collections.
    #[must_use]
    pub fn eden(mut self, bytes: usize) -> Workload {
        self.sizes.eden = Some(bytes);
        self
    }

    /// Adds a flag.
    #[must_use]
    pub fn flag(mut self, flag: impl Into<String>) -> Workload {
        self.flags.push(flag.into());
        self
    }

    /// Adds a flag for Shenandoah, which releases after `last` do not have.
    #[must_use]
    pub fn shenandoah(mut self, flag: impl Into<String>, last: u32) -> Workload {
        self.shenandoah.push((flag.into(), last));
        self
    }

    /// Disables the thread-local buffers.
    #[must_use]
    pub fn without_buffers(mut self) -> Workload {
        self.without_buffers = true;
        self.flag("-XX:-UseTLAB")
    }

    /// Declares that a shot needs no collector, and leaves `bytes` bytes behind without one.
    #[must_use]
    pub fn keeps(self, bytes: usize) -> Workload {
        Workload { kept: Some(bytes), ..self }
    }

    /// Sets the number of operations of a call.
    #[must_use]
    pub fn operations(self, operations: u64) -> Workload {
        Workload { operations: Some(operations), ..self }
    }

    /// Sets the profiler of JMH.
    #[must_use]
    pub fn profiler(self, class: &'static str) -> Workload {
        Workload { profiler: Some(class), ..self }
    }

    /// Declares that each shot is a whole run, which takes `longest` at most.
    #[must_use]
    pub fn whole(self, longest: Duration) -> Workload {
        Workload { whole: Some(longest), ..self }
    }

    /// Sets the differences from the lab's case.
    #[must_use]
    pub fn differs(self, differs: &'static [&'static str]) -> Workload {
        Workload { differs, ..self }
    }
}
