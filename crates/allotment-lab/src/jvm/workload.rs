//! What an experiment says of a case on a JVM: which benchmark stands beside it, and what makes the two alike.

use super::Sizes;

/// A benchmark in the jar, and how a JVM is to run it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// Its class and method: `allotment.Allocation.allocate`.
    pub benchmark: &'static str,
    /// Its parameters.
    pub params: Vec<(&'static str, String)>,
    /// Its heap.
    pub sizes: Sizes,
    /// More flags that make it like our case.
    pub flags: Vec<String>,
    /// Whether there are no thread-local buffers.
    pub without_buffers: bool,
    /// Bytes that each shot leaves behind where nothing is ever freed; none: it cannot do without a collector.
    pub kept: Option<usize>,
    /// How many operations a call is, where only the parameters say so.
    pub operations: Option<u64>,
    /// What is not alike, a sentence each.
    pub differs: &'static [&'static str],
}

impl Workload {
    /// A benchmark without parameters in a heap of `heap` bytes, which begins as large as it may become and in huge
    /// pages, as ours does.
    pub fn new(benchmark: &'static str, heap: usize) -> Workload {
        Workload {
            benchmark,
            params: Vec::new(),
            sizes: Sizes { heap, eden: None },
            flags: vec!["-XX:+UseTransparentHugePages".into()],
            without_buffers: false,
            kept: None,
            operations: None,
            differs: &[],
        }
    }

    /// Sets a parameter.
    #[must_use]
    pub fn param(mut self, name: &'static str, value: impl ToString) -> Workload {
        self.params.push((name, value.to_string()));
        self
    }

    /// Sets what is allocated between two young collections, in bytes.
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

    /// Takes the thread-local buffers away.
    #[must_use]
    pub fn without_buffers(mut self) -> Workload {
        self.without_buffers = true;
        self.flag("-XX:-UseTLAB")
    }

    /// Says that a shot needs no collector, and leaves so many bytes behind without one.
    #[must_use]
    pub fn keeps(self, bytes: usize) -> Workload {
        Workload { kept: Some(bytes), ..self }
    }

    /// Says how many operations a call is.
    #[must_use]
    pub fn operations(self, operations: u64) -> Workload {
        Workload { operations: Some(operations), ..self }
    }

    /// Says what is not alike.
    #[must_use]
    pub fn differs(self, differs: &'static [&'static str]) -> Workload {
        Workload { differs, ..self }
    }
}
