//! The inputs of every collector's constructor, and the parts that all collectors make from these
//! inputs in the same way: workers, settings, limits.

use super::history::History;
use super::overhead::Overhead;
use super::settings::Settings;
use super::sizing::{Capacity, Machine, OverheadSettings};
use super::work::Gang;
use crate::options::Options;
use crate::region::{Geometry, Space};
use crate::timeline::Timeline;
use std::sync::Arc;

/// The inputs of a collector's constructor.
pub(crate) struct Parts<'h> {
    pub(crate) options: &'h Options,
    pub(crate) space: &'h Space,
    pub(crate) machine: Machine,
    pub(crate) history: Arc<History>,
    pub(crate) timeline: Option<Arc<Timeline>>,
}

impl Parts<'_> {
    /// The address of the first region.
    pub(super) fn base(&self) -> usize {
        self.space.free.table().bottom(0)
    }

    /// Size and number of the heap's regions.
    pub(super) fn geometry(&self) -> Geometry {
        self.machine.geometry
    }

    /// The workers of the stopped world.
    pub(super) fn gang(&self) -> Gang {
        self.workers("allotment-gc", self.machine.workers)
    }

    /// A gang of at most `most` workers of this name, on the CPUs of the process.
    pub(super) fn workers(&self, name: &'static str, most: usize) -> Gang {
        let cpus: Vec<usize> = self.space.topology.cpus().iter().map(|cpu| cpu.number).collect();
        Gang::new(name, most).on_cpus(&cpus).with_timeline(self.timeline.clone())
    }

    /// The options of every collector that collects.
    pub(super) fn settings(&self) -> Settings {
        Settings::new(self.options, self.geometry(), self.space.topology.available_parallelism())
    }

    /// The limit on the cost of collections.
    pub(super) fn overhead(&self) -> Overhead {
        Overhead::new(OverheadSettings::from_options(self.options), self.history.clock.age())
    }

    /// The rule for the number of regions in use, in a heap without generations.
    pub(super) fn capacity(&self) -> Capacity {
        let Options { initial_heap_size, min_heap_free_ratio, .. } = *self.options;
        Capacity::new(initial_heap_size, self.geometry().region_bytes(), min_heap_free_ratio)
    }
}
