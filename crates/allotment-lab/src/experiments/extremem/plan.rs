//! The plan of a case: the workload, and the heap for it.

use super::configuration::Configuration;
use crate::experiments::collectors::{full_heap, resolves};
use crate::experiments::on_jvm;
use crate::harness::{Case, ParameterError, check_threads};
use crate::jvm::Workload;
use allotment::Heap;
use allotment::heap::HeapBuilder;
use allotment::options::OptionError;
use std::time::Duration;

/// No options beside those of the configuration.
pub(super) const AS_CONFIGURED: &str = "as-configured";

/// The policy that the heap has unless another is asked for.
pub(super) const OWN_POLICY: &str = "own";

/// Everything that is decided before a heap is made.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ShopPlan {
    pub(super) configuration: Configuration,
    name: String,
    heap: usize,
    collector: String,
    policy: String,
}

impl ShopPlan {
    /// The plan of a case.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn of(case: &Case) -> anyhow::Result<ShopPlan> {
        let options = case.text("workload")?;
        let options = if options == AS_CONFIGURED { "" } else { options };
        let name = case.text("config")?;
        let configuration = Configuration::named(name, options).map_err(anyhow::Error::msg)?;
        let heap = match case.size("heap")? {
            0 => configuration.heap,
            given => given,
        };
        check_threads(configuration.workload.threads(), "threads of the shop")?;
        Ok(ShopPlan {
            configuration,
            name: name.into(),
            heap,
            collector: case.text("collector")?.into(),
            policy: case.text("policy")?.into(),
        })
    }

    /// The builder of the heap. The heap has its full size from the beginning, and its pages are
    /// there, as with HotSpot's `-Xms` and `AlwaysPreTouch`.
    ///
    /// # Errors
    /// An option does not take its value.
    pub(super) fn builder(&self) -> Result<HeapBuilder, OptionError> {
        let builder = full_heap(&self.collector, self.heap)?.region_size(self.configuration.region);
        let builder = builder.always_pre_touch(true);
        match self.policy.as_str() {
            OWN_POLICY => Ok(builder),
            policy => builder.options(&format!("TLABPolicy={policy}")),
        }
    }

    /// The counterpart of the case on a JVM, if there is one.
    pub(super) fn on_jvm(&self, case: &Case) -> Result<Option<Workload>, ParameterError> {
        // Whole seconds, and something for the JVM's start.
        let longest = Duration::from_secs(self.configuration.silence().as_secs() + 60);
        let Configuration { workload, region, .. } = &self.configuration;
        on_jvm::extremem(case, &workload.written(), self.heap, *region, longest)
    }

    /// Checks that this machine, with `cpus` CPUs, can hold such a shop, and that its heap is
    /// possible.
    ///
    /// # Errors
    /// The machine cannot, or the heap is impossible.
    pub(super) fn check(&self, cpus: usize) -> anyhow::Result<()> {
        self.configuration.fits(&self.name, self.heap, cpus)?;
        // Without the collector: the case reports a collector that this build lacks.
        resolves(Heap::builder().max_heap_size(self.heap).region_size(self.configuration.region))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::harness::{JmhMode, TimeUnit};

    pub(in super::super) fn case(config: &str, collector: &str, heap: &str, workload: &str) -> Case {
        let params = [
            ("config", config),
            ("collector", collector),
            ("policy", OWN_POLICY),
            ("heap", heap),
            ("workload", workload),
        ];
        Case {
            experiment: "extremem".into(),
            mode: "shop".into(),
            jmh_mode: JmhMode::SingleShot,
            unit: TimeUnit::Milliseconds,
            threads: 1,
            params: params.map(|(name, value)| (name.into(), value.into())).into(),
        }
    }

    pub(in super::super) fn plan(collector: &str, heap: usize, workload: &str) -> ShopPlan {
        ShopPlan::of(&case("quick", collector, &heap.to_string(), workload)).unwrap()
    }

    #[test]
    fn a_heap_is_as_the_configuration_says_unless_told() {
        let loaded = ShopPlan::of(&case("loaded", "genshen", "0", AS_CONFIGURED)).unwrap();
        assert_eq!((loaded.heap, loaded.configuration.region), (2 << 30, 4 << 20));
        assert!(loaded.configuration.silence() > Duration::from_secs(60));
        let mut quick = plan("parallel", 64 << 20, "CustomerThreads=30");
        assert_eq!(quick.configuration.workload.customer_threads, 30);
        quick.policy = "shenandoah".into();
        let heap = quick.builder().unwrap().build().unwrap();
        assert_eq!((heap.collector(), heap.geometry().heap_bytes()), ("parallel", 64 << 20));
        let policy = heap.options().rows().find(|row| row.info.name == "TLABPolicy").unwrap().value;
        assert_eq!(policy, "shenandoah");
    }
}
