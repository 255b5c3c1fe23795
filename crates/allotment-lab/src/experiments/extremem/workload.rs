//! The workload's options, under the names that Extremem gives them, and the rules they obey.
//!
//! An option is `Name=value`, as in Extremem without the leading `-d`. Times are whole numbers with
//! a unit: `ms`, `s`, `m`, `h` or `d`. A number has at most 31 bits, and a probability is written
//! `0.25`. If an option is given twice, the last one counts.
//!
//! One list of options is one value of the axis `workload`, so that two lists are two variants of a
//! run. Refused: an axis for each option. A row would have forty coordinates.

use crate::format::phrase::count;
use crate::format::suggest::did_you_mean;
use std::time::Duration;

/// Makes the structure of the options, and the table of their names.
macro_rules! options {
    ($($(#[$doc:meta])* $name:literal => $field:ident: $kind:ident($type:ty),)*) => {
        /// Everything that the workload's options decide.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub(super) struct Workload {
            $($(#[$doc])* pub(super) $field: $type,)*
        }

        /// The options of this workload, in Extremem's order.
        const OPTIONS: &[(&str, OptionKind)] = &[$(($name, OptionKind::$kind(|workload| &mut workload.$field)),)*];
    };
}

options! {
    "AllowAnyMatch" => allow_any_match: Switch(bool),
    "PhasedUpdateInterval" => phased_update_interval: Time(Duration),
    "RandomSeed" => random_seed: Seed(u32),
    /// Entries of the dictionary, which may repeat words.
    "DictionarySize" => dictionary_size: Count(usize),
    /// Different words in the dictionary. Extremem reads them from a file.
    "DistinctWords" => distinct_words: Count(usize),
    "NumProducts" => products: Count(usize),
    /// Words.
    "ProductNameLength" => product_name_length: Count(usize),
    /// Words.
    "ProductDescriptionLength" => product_description_length: Count(usize),
    /// Words.
    "ProductReviewLength" => product_review_length: Count(usize),
    "NumCustomers" => customers: Count(usize),
    "CustomerThreads" => customer_threads: Count(usize),
    "CustomerPeriod" => customer_period: Time(Duration),
    "CustomerThinkTime" => customer_think_time: Time(Duration),
    /// Words of a query.
    "KeywordSearchCount" => keyword_search_count: Count(usize),
    /// Words that candidates are ranked by.
    "SelectionCriteriaCount" => selection_criteria_count: Count(usize),
    "BuyThreshold" => buy_threshold: Probability(f64),
    "SaveForLaterThreshold" => save_for_later_threshold: Probability(f64),
    "BrowsingExpiration" => browsing_expiration: Time(Duration),
    "ServerThreads" => server_threads: Count(usize),
    "ServerPeriod" => server_period: Time(Duration),
    "SalesTransactionQueueCount" => sales_queues: Count(usize),
    "BrowsingHistoryQueueCount" => browsing_queues: Count(usize),
    /// Of each server thread.
    "CustomerReplacementPeriod" => customer_replacement_period: Time(Duration),
    "CustomerReplacementCount" => customer_replacement_count: Count(usize),
    /// Of each server thread.
    "ProductReplacementPeriod" => product_replacement_period: Time(Duration),
    "ProductReplacementCount" => product_replacement_count: Count(usize),
    /// The measured part of a run.
    "SimulationDuration" => simulation: Time(Duration),
    /// The time before it, in which nothing is logged.
    "WarmupDuration" => warmup: Time(Duration),
    /// Samples that each log of latencies has room for.
    "ResponseTimeMeasurements" => response_time_measurements: Count(usize),
}

/// How an option is read.
#[derive(Clone, Copy)]
enum OptionKind {
    Count(fn(&mut Workload) -> &mut usize),
    Seed(fn(&mut Workload) -> &mut u32),
    Time(fn(&mut Workload) -> &mut Duration),
    Probability(fn(&mut Workload) -> &mut f64),
    Switch(fn(&mut Workload) -> &mut bool),
    /// The option takes this value and no other, for the reason that follows.
    Only(&'static str, &'static str),
    /// An option of Extremem that is not here, for this reason.
    Refused(&'static str),
}

/// Why options of reports are not here.
const REPORTS: &str = "the lab reports";

/// Why goals for latencies are not here.
const GOALS: &str = "the search for a rate that meets goals is not implemented";

/// Why the modes of Extremem that change data in place are not here.
const PHASED: &str = "only the mode PhasedUpdates is implemented, which all three configurations of \
                      JDK-8359947 use";

/// The options of Extremem that take one value, or none.
const FIXED: &[(&str, OptionKind)] = &[
    ("FastAndFurious", OptionKind::Only("false", PHASED)),
    ("PhasedUpdates", OptionKind::Only("true", PHASED)),
    ("MaxArrayLength", OptionKind::Only("0", "the index arrays are single arrays")),
    ("ReportCSV", OptionKind::Refused(REPORTS)),
    ("ReportIndividualThreads", OptionKind::Refused(REPORTS)),
    (
        "DictionaryFile",
        OptionKind::Refused("words are generated, as many different ones as DistinctWords says"),
    ),
    ("InitializationDelay", OptionKind::Refused("Extremem ignores it, too")),
    ("MaxP50CustomerPrepMicroseconds", OptionKind::Refused(GOALS)),
    ("MaxP95CustomerPrepMicroseconds", OptionKind::Refused(GOALS)),
    ("MaxP99CustomerPrepMicroseconds", OptionKind::Refused(GOALS)),
    ("MaxP99_9CustomerPrepMicroseconds", OptionKind::Refused(GOALS)),
    ("MaxP99_99CustomerPrepMicroseconds", OptionKind::Refused(GOALS)),
    ("MaxP99_999CustomerPrepMicroseconds", OptionKind::Refused(GOALS)),
    ("MaxP100CustomerPrepMicroseconds", OptionKind::Refused(GOALS)),
];

/// Extremem's defaults, and as many words as its dictionary has entries.
const DEFAULTS: &str = "AllowAnyMatch=true RandomSeed=42 DictionarySize=25000 DistinctWords=25000 \
    NumProducts=20000 ProductNameLength=5 ProductDescriptionLength=24 ProductReviewLength=32 \
    NumCustomers=10000 CustomerThreads=1440 CustomerPeriod=240s CustomerThinkTime=200s \
    KeywordSearchCount=5 SelectionCriteriaCount=8 BuyThreshold=0.4 SaveForLaterThreshold=0.4 \
    BrowsingExpiration=600s ServerThreads=10 ServerPeriod=500ms SalesTransactionQueueCount=10 \
    BrowsingHistoryQueueCount=10 CustomerReplacementPeriod=60s CustomerReplacementCount=16 \
    ProductReplacementPeriod=90s ProductReplacementCount=64 PhasedUpdateInterval=60s \
    SimulationDuration=600s WarmupDuration=0s ResponseTimeMeasurements=100000";

impl Workload {
    /// The workload of Extremem without options.
    pub(super) fn new() -> Workload {
        Workload::default().with(DEFAULTS).expect("tests read the defaults")
    }

    /// The workload with the options of `text`, which spaces separate.
    ///
    /// # Errors
    /// Names the option that is unknown, is not written as it should be, or breaks a rule.
    pub(super) fn with(mut self, text: &str) -> Result<Workload, String> {
        for option in text.split_ascii_whitespace() {
            self.set(option)?;
        }
        // A smaller dictionary has fewer words, unless their number is given too.
        if !text.contains("DistinctWords=") {
            self.distinct_words = self.distinct_words.min(self.dictionary_size);
        }
        self.check()?;
        Ok(self)
    }

    /// All options with their values, as [`with`](Self::with) reads them.
    pub(super) fn written(&self) -> String {
        let mut of = self.clone();
        let mut value = |kind: &OptionKind| {
            Some(match kind {
                OptionKind::Count(field) => field(&mut of).to_string(),
                OptionKind::Seed(field) => field(&mut of).to_string(),
                OptionKind::Time(field) => format!("{}ms", field(&mut of).as_millis()),
                // With a point, even if it is 0.
                OptionKind::Probability(field) => format!("{:?}", field(&mut of)),
                OptionKind::Switch(field) => field(&mut of).to_string(),
                OptionKind::Only(..) | OptionKind::Refused(_) => return None,
            })
        };
        let options = OPTIONS.iter().filter_map(|(name, kind)| Some(format!("{name}={}", value(kind)?)));
        options.collect::<Vec<_>>().join(" ")
    }

    fn set(&mut self, option: &str) -> Result<(), String> {
        let (name, value) =
            option.split_once('=').ok_or_else(|| format!("`{option}` is not an option; write Name=value"))?;
        let all = OPTIONS.iter().chain(FIXED);
        let Some((_, kind)) = all.clone().find(|(known, _)| *known == name) else {
            let taken = |(_, kind): &&(&str, OptionKind)| !matches!(kind, OptionKind::Refused(_));
            let hint = did_you_mean(name, all.filter(taken).map(|(name, _)| *name));
            return Err(format!("Extremem has no option `{name}`; {hint}").trim_end_matches("; ").into());
        };
        let wrong = |what: String| format!("{name}: {what}");
        match kind {
            OptionKind::Count(of) => *of(self) = whole(value).map_err(wrong)? as usize,
            OptionKind::Seed(of) => *of(self) = whole(value).map_err(wrong)?,
            OptionKind::Time(of) => *of(self) = time(value).map_err(wrong)?,
            OptionKind::Probability(of) => *of(self) = probability(value).map_err(wrong)?,
            OptionKind::Switch(of) => {
                let parsed = value.parse();
                *of(self) = parsed.map_err(|_| wrong(format!("`{value}` is neither true nor false")))?;
            }
            OptionKind::Only(only, _) if value == *only => {}
            OptionKind::Only(only, why) => {
                return Err(wrong(format!("`{value}` is refused: {why}; {only} fits")));
            }
            OptionKind::Refused(why) => {
                return Err(wrong(format!("this option of Extremem is not here: {why}")));
            }
        }
        Ok(())
    }

    /// Whether the options agree with each other.
    fn check(&self) -> Result<(), String> {
        let rules = [
            (
                self.customer_period > self.customer_think_time,
                "CustomerPeriod must be longer than CustomerThinkTime",
            ),
            (!self.phased_update_interval.is_zero(), "PhasedUpdateInterval must be more than 0"),
            (!self.simulation.is_zero(), "SimulationDuration must be more than 0"),
            (!self.server_period.is_zero(), "ServerPeriod must be more than 0"),
            (
                4 * self.server_period < self.customer_replacement_period
                    && 4 * self.server_period < self.product_replacement_period,
                "4 times ServerPeriod must be less than CustomerReplacementPeriod and ProductReplacementPeriod",
            ),
            (
                self.buy_threshold + self.save_for_later_threshold <= 1.0,
                "the sum of BuyThreshold and SaveForLaterThreshold must be at most 1",
            ),
            (
                self.sales_queues <= self.customer_threads.min(self.server_threads),
                "SalesTransactionQueueCount must be at most CustomerThreads and ServerThreads",
            ),
            (
                self.browsing_queues <= self.customer_threads.min(self.server_threads),
                "BrowsingHistoryQueueCount must be at most CustomerThreads and ServerThreads",
            ),
            (self.distinct_words <= self.dictionary_size, "DistinctWords must be at most DictionarySize"),
            (
                power(self.distinct_words, self.product_name_length) > self.products as f64,
                "DistinctWords to the power of ProductNameLength must exceed NumProducts",
            ),
            (
                power(self.distinct_words, 2) > self.customers as f64,
                "the square of DistinctWords must exceed NumCustomers",
            ),
            (
                self.keyword_search_count.max(self.selection_criteria_count) <= self.distinct_words,
                "KeywordSearchCount and SelectionCriteriaCount must be at most DistinctWords: their words differ",
            ),
        ];
        let least = [
            ("NumProducts", self.products),
            ("NumCustomers", self.customers),
            ("CustomerThreads", self.customer_threads),
            ("ServerThreads", self.server_threads),
            ("SalesTransactionQueueCount", self.sales_queues),
            ("BrowsingHistoryQueueCount", self.browsing_queues),
            ("KeywordSearchCount", self.keyword_search_count),
            ("ProductReviewLength", self.product_review_length),
            ("ResponseTimeMeasurements", self.response_time_measurements),
        ];
        if let Some((name, _)) = least.iter().find(|(_, value)| *value == 0) {
            return Err(format!("{name}: 0 is too few; at least 1 is needed"));
        }
        rules.iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, rule)| Err((*rule).into()))
    }

    /// Threads of the program: customers, servers, and the thread that rebuilds.
    pub(super) fn threads(&self) -> usize {
        self.customer_threads + self.server_threads + 1
    }

    /// Warm-up and measured part.
    pub(super) fn duration(&self) -> Duration {
        self.warmup + self.simulation
    }

    /// In words: `500 customer threads with a period of 150 ms`.
    pub(super) fn describe(&self) -> String {
        let threads = count(self.customer_threads, "customer thread");
        format!("{threads} with a period of {} ms", self.customer_period.as_millis())
    }
}

fn power(base: usize, exponent: usize) -> f64 {
    (base as f64).powf(exponent as f64)
}

/// A number of at most 31 bits.
fn whole(text: &str) -> Result<u32, String> {
    let number = text.parse::<u32>().ok().filter(|number| *number <= i32::MAX as u32);
    number.ok_or_else(|| format!("`{text}` is not a whole number below 2^31"))
}

fn time(text: &str) -> Result<Duration, String> {
    const UNITS: [(&str, u64); 5] =
        [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let milliseconds = UNITS
        .iter()
        .find(|(name, _)| *name == unit)
        .zip(whole(number).ok())
        .and_then(|((_, length), number)| u64::from(number).checked_mul(*length));
    let milliseconds = milliseconds.filter(|_| !number.is_empty());
    milliseconds.map(Duration::from_millis).ok_or_else(|| {
        format!("`{text}` is not a time; write a whole number and ms, s, m, h or d, such as 5s")
    })
}

fn probability(text: &str) -> Result<f64, String> {
    let digits = text.strip_prefix("0.").filter(|digits| !digits.is_empty());
    let plain = digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    text.parse()
        .ok()
        .filter(|_| plain)
        .ok_or_else(|| format!("`{text}` is not a probability below 1; write it as 0.25"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_extremems_names_and_forms() {
        let text = "DictionarySize=300000 DistinctWords=243970 CustomerPeriod=150ms CustomerThinkTime=30ms \
                    BuyThreshold=0.5 SaveForLaterThreshold=0.15 AllowAnyMatch=false PhasedUpdates=true \
                    PhasedUpdateInterval=15s SimulationDuration=25m BrowsingExpiration=5m BrowsingExpiration=1m";
        let workload = Workload::new().with(text).unwrap();
        assert_eq!((workload.dictionary_size, workload.distinct_words), (300_000, 243_970));
        assert_eq!(workload.customer_period, Duration::from_millis(150));
        assert_eq!((workload.buy_threshold, workload.save_for_later_threshold), (0.5, 0.15));
        assert!(!workload.allow_any_match);
        assert_eq!(workload.simulation, Duration::from_secs(25 * 60));
        assert_eq!(workload.browsing_expiration, Duration::from_secs(60), "the last counts");
        assert_eq!(Workload::new().with(" "), Ok(Workload::new()));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let workload =
            Workload::new().with("BuyThreshold=0.0 NumProducts=7 ServerPeriod=3s AllowAnyMatch=false");
        let workload = workload.unwrap();
        let written = workload.written();
        assert!(written.contains("ServerPeriod=3000ms") && written.contains("BuyThreshold=0.0"), "{written}");
        assert_eq!(Workload::new().with(&written), Ok(workload));
    }

    #[test]
    fn what_is_wrong_is_told_with_what_is_right() {
        for (text, expected) in [
            ("NumCustomer=3", "no option `NumCustomer`; did you mean `NumCustomers`?"),
            ("numproducts=3", "no option `numproducts`"),
            ("Products", "write Name=value"),
            ("NumProducts=x", "NumProducts: `x` is not a whole number"),
            ("NumProducts=2147483648", "below 2^31"),
            ("NumProducts=0", "NumProducts: 0 is too few"),
            ("CustomerPeriod=5", "such as 5s"),
            ("CustomerPeriod=s", "such as 5s"),
            ("CustomerPeriod=1.5s", "such as 5s"),
            ("BuyThreshold=1.0", "write it as 0.25"),
            ("BuyThreshold=.5", "write it as 0.25"),
            ("BuyThreshold=0.", "write it as 0.25"),
            ("BuyThreshold=0.7", "at most 1"),
            ("AllowAnyMatch=yes", "neither true nor false"),
            ("FastAndFurious=true", "PhasedUpdates"),
            ("PhasedUpdates=false", "PhasedUpdates"),
            ("MaxArrayLength=4", "single arrays"),
            ("DictionaryFile=words", "this option of Extremem is not here: words are generated"),
            ("ReportCSV=true", "the lab reports"),
            ("MaxP99_9CustomerPrepMicroseconds=5", "search for a rate"),
            ("CustomerThinkTime=240s", "CustomerPeriod must be longer"),
            ("PhasedUpdateInterval=0s", "more than 0"),
            ("ServerPeriod=15s", "4 times ServerPeriod"),
            ("ServerThreads=9", "QueueCount"),
            ("DictionarySize=10 DistinctWords=11", "DistinctWords must be at most"),
            ("DistinctWords=1", "must exceed NumProducts"),
            ("DistinctWords=100", "must exceed NumCustomers"),
            ("KeywordSearchCount=25001", "their words differ"),
            ("ResponseTimeMeasurements=0", "at least 1"),
        ] {
            let error = Workload::new().with(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
