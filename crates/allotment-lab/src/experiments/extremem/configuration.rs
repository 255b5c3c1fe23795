//! The named configurations: the workload, its heap, and the machine that it needs.
//!
//! `small`, `medium` and `huge` are those of the mail about JDK-8359947. `loaded` is `small` with
//! thirty times its rate, so that a minute shows what `small` shows in half an hour. `quick` is for
//! tests, and measures nothing.

use super::workload::Workload;
use crate::experiments::crew::STACK;
use crate::experiments::memory;
use crate::format::number;
use crate::format::phrase::count;
use crate::format::time::rough;
use allotment_models::tlab_simulation::{Scenario, Shop};
use anyhow::{anyhow, ensure};
use clap::ValueEnum as _;
use std::time::Duration;

/// The words of the axis.
pub(super) const NAMES: &[&str] = &["small", "medium", "huge", "loaded", "quick"];

/// A configuration.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Configuration {
    pub(super) workload: Workload,
    /// Bytes of the heap, unless the user gives another size.
    pub(super) heap: usize,
    /// `RegionSize` in bytes; 0: the heap chooses.
    pub(super) region: usize,
    /// CPUs without which the workload only shows that CPUs are missing.
    cpus: usize,
    /// Whether the workload is that of the name, and not changed by options.
    is_of_name: bool,
}

const SMALL: &str = "DictionarySize=3000000 DistinctWords=243970 NumCustomers=30000 NumProducts=30000 \
    CustomerThreads=500 CustomerPeriod=5s CustomerThinkTime=1s KeywordSearchCount=1 \
    SelectionCriteriaCount=3 ProductReviewLength=12 ServerThreads=5 ServerPeriod=10s ProductNameLength=10 \
    BrowsingHistoryQueueCount=5 SalesTransactionQueueCount=5 ProductDescriptionLength=40 \
    ProductReplacementPeriod=60s ProductReplacementCount=25 CustomerReplacementPeriod=60s \
    CustomerReplacementCount=1500 BrowsingExpiration=1m PhasedUpdates=true PhasedUpdateInterval=180s \
    SimulationDuration=25m ResponseTimeMeasurements=100000 ";

const MEDIUM: &str = "NumCustomers=3600000 NumProducts=320000 ProductDescriptionLength=512 \
    KeywordSearchCount=2 SelectionCriteriaCount=2 AllowAnyMatch=false ";

const HUGE: &str = "NumCustomers=210000000 NumProducts=18000000 ProductNameLength=6 \
    ProductDescriptionLength=70 ProductReviewLength=96 CustomerThreads=2000 CustomerPeriod=2000ms \
    CustomerThinkTime=300ms KeywordSearchCount=2 AllowAnyMatch=false BuyThreshold=0.5 \
    SaveForLaterThreshold=0.15 ServerThreads=20 BrowsingHistoryQueueCount=1 SalesTransactionQueueCount=1 \
    CustomerReplacementCount=150 ";

const LOADED: &str = "DictionarySize=300000 CustomerPeriod=150ms CustomerThinkTime=30ms \
    PhasedUpdateInterval=15s ResponseTimeMeasurements=2000 WarmupDuration=20s SimulationDuration=31s ";

const QUICK: &str = "DictionarySize=20000 DistinctWords=10000 NumCustomers=2000 NumProducts=2000 \
    CustomerThreads=40 CustomerPeriod=100ms CustomerThinkTime=20ms KeywordSearchCount=1 \
    SelectionCriteriaCount=3 ProductReviewLength=12 ServerThreads=4 ServerPeriod=60ms ProductNameLength=6 \
    ProductDescriptionLength=25 BrowsingHistoryQueueCount=2 SalesTransactionQueueCount=2 \
    ProductReplacementPeriod=300ms ProductReplacementCount=10 CustomerReplacementPeriod=300ms \
    CustomerReplacementCount=50 BrowsingExpiration=400ms PhasedUpdateInterval=200ms \
    ResponseTimeMeasurements=1000 WarmupDuration=500ms SimulationDuration=2s ";

impl Configuration {
    /// The configuration `name` with the options of `options`.
    ///
    /// # Errors
    /// There is no configuration of that name, or an option is wrong.
    pub(super) fn named(name: &str, options: &str) -> Result<Configuration, String> {
        let (own, heap, region, cpus) = match name {
            "small" => (SMALL.to_string(), 4 << 30, 4 << 20, 2),
            "medium" => (SMALL.to_string() + MEDIUM, 31 << 30, 0, 4),
            "huge" => (SMALL.to_string() + HUGE, 512 << 30, 0, 16),
            "loaded" => (SMALL.to_string() + LOADED, 2 << 30, 4 << 20, 2),
            "quick" => (QUICK.to_string(), 96 << 20, 0, 1),
            other => return Err(format!("there is no configuration `{other}`")),
        };
        let workload = Workload::new().with(&own)?.with(options)?;
        let is_of_name = options.trim().is_empty();
        Ok(Configuration { workload, heap, region, cpus, is_of_name })
    }

    /// Whether this machine has what the configuration needs: `heap` bytes for the heap, the memory
    /// of the stacks, and the CPUs.
    ///
    /// # Errors
    /// Names the needed and the available memory or CPUs.
    pub(super) fn fits(&self, name: &str, heap: usize, cpus: usize) -> anyhow::Result<()> {
        let stacks = self.workload.threads() * STACK;
        let needed = heap.saturating_add(stacks);
        let what = format!(
            "configuration {name}: {} and a run of {}",
            self.workload.describe(),
            rough(self.workload.duration())
        );
        ensure!(
            cpus >= self.cpus,
            "{what} need {} and {}m of memory, and there {} {}; --config quick fits a small machine{}",
            count(self.cpus, "CPU"),
            needed >> 20,
            if cpus == 1 { "is" } else { "are" },
            count(cpus, "CPU"),
            self.simulated(name, heap)
        );
        let fits = memory::fits(&what, needed, "a smaller --heap or --config");
        fits.map_err(|why| anyhow!("{why}{}", self.simulated(name, heap)))
    }

    /// The command that answers for such a machine by a model, if there is one. The model knows the
    /// workload of a name, and not one with other options.
    fn simulated(&self, name: &str, heap: usize) -> String {
        let Ok(shop) = Shop::from_str(name, false) else { return String::new() };
        let scenario = Scenario { heap: heap as u64, ..Scenario::extremem(shop) };
        if !self.is_of_name || scenario.check().is_err() {
            return String::new();
        }
        let heap =
            if heap == self.heap { String::new() } else { format!(" --heap {}", number::size(heap as u64)) };
        format!("; a model of it: allotment simulate tlab --like extremem --config {name}{heap}")
    }

    /// The longest time without a sign of life: building the shop, the run, and its end. Building
    /// `small` takes seconds; what grows is the texts.
    pub(super) fn silence(&self) -> Duration {
        let Workload { products, product_name_length, product_description_length, customers, .. } =
            self.workload;
        // Bytes of the texts with their quadratic concatenation, and objects of the indexes.
        let quadratic = |words: usize| (words * words * 10) as f64;
        let text = quadratic(product_name_length) + quadratic(product_description_length);
        let words = (product_name_length + product_description_length) as f64;
        let seconds = products as f64 * (text / 1e9 + words / 1e6) + customers as f64 / 1e5;
        self.workload.duration() * 2 + Duration::from_secs_f64(seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_configuration() {
        for name in NAMES {
            let configuration = Configuration::named(name, "").unwrap();
            assert!(configuration.heap >= 64 << 20, "{name}");
        }
        assert!(Configuration::named("large", "").unwrap_err().contains("large"));
    }

    #[test]
    fn the_configurations_are_those_of_the_mail() {
        let of = |name| Configuration::named(name, "").unwrap().workload;
        let (small, huge, loaded) = (of("small"), of("huge"), of("loaded"));
        assert_eq!((small.customer_threads, small.server_threads), (500, 5));
        assert_eq!((small.buy_threshold, small.allow_any_match), (0.4, true));
        assert_eq!(of("medium").product_description_length, 512);
        assert!(!of("medium").allow_any_match && !huge.allow_any_match);
        assert_eq!((huge.customer_threads, huge.buy_threshold), (2000, 0.5));
        assert_eq!(huge.customer_replacement_period, small.customer_replacement_period);
        assert_eq!(
            (loaded.customer_period, loaded.warmup),
            (Duration::from_millis(150), Duration::from_secs(20))
        );
        assert_eq!(loaded.distinct_words, 243_970);
    }

    #[test]
    fn a_smaller_dictionary_has_fewer_words() {
        let words = |options| Configuration::named("small", options).unwrap().workload.distinct_words;
        assert_eq!(words("DictionarySize=50000"), 50_000);
        assert_eq!(words("DictionarySize=50000 DistinctWords=40000"), 40_000);
        assert_eq!(words("DictionarySize=250000"), 243_970);
        let error = Configuration::named("small", "DictionarySize=5 DistinctWords=6").unwrap_err();
        assert!(error.contains("at most DictionarySize"), "{error}");
    }

    #[test]
    fn what_a_machine_lacks_is_told() {
        let huge = Configuration::named("huge", "").unwrap();
        let error = huge.fits("huge", huge.heap, 2).unwrap_err().to_string();
        for part in ["huge", "2000 customer threads", "25 min", "16 CPUs", "525298m", "there are 2 CPUs"] {
            assert!(error.contains(part), "{part}: {error}");
        }
        assert!(
            error.ends_with("a model of it: allotment simulate tlab --like extremem --config huge"),
            "{error}"
        );
        let error = huge.fits("huge", 1 << 60, 64).unwrap_err().to_string();
        assert!(error.contains("of memory, and there are"), "{error}");
        assert!(!error.contains("simulate"), "a heap that the model refuses: {error}");
        let error = huge.fits("huge", 1 << 40, 2).unwrap_err().to_string();
        assert!(error.ends_with("--config huge --heap 1t"), "{error}");
        let changed = Configuration::named("huge", "CustomerThreads=100").unwrap();
        let error = changed.fits("huge", changed.heap, 2).unwrap_err().to_string();
        assert!(!error.contains("simulate"), "the model knows no such workload: {error}");
        let quick = Configuration::named("quick", "").unwrap();
        quick.fits("quick", quick.heap, 1).unwrap();
    }
}
