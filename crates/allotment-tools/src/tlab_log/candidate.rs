//! Sizings to try on a log: the user's text, its settings, and the JVM's flags for it.

use allotment::internals::tlab::Settings;
use allotment::options::TlabPolicy;
use allotment_report::format::number::{parse_size, size};

/// Settings that JVMs have, those that depart least from the defaults first.
macro_rules! jvms {
    () => {
        "MinTLABSize=4k;MinTLABSize=8k;MinTLABSize=16k;MinTLABSize=32k;TLABRefillWasteFraction=16;\
         TLABRefillWasteFraction=256;TLABAllocationWeight=90;TLABWasteTargetPercent=2;TLABWasteTargetPercent=5;\
         TLABSize=16k,ResizeTLAB=false;TLABSize=64k,ResizeTLAB=false;TLABSize=256k,ResizeTLAB=false"
    };
}

/// The settings that an [`Advice`](super::Advice) chooses from.
pub(super) const JVMS: &str = jvms!();

/// The default candidates: the JVM's own settings, those that an [`Advice`](super::Advice) chooses
/// from, an eden twice as large, HotSpot's newer sizing, and this project's.
pub const BUILT_IN: &str =
    concat!("TLABPolicy=hotspot;", jvms!(), ";Eden=2;TLABPolicy=hotspot-8381834;TLABPolicy=adaptive");

/// The name of HotSpot's defaults.
const DEFAULTS: &str = "TLABPolicy=hotspot";

/// A sizing to try.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The user's text.
    pub name: String,
    /// The flags that make a JVM use it; or why no flags do.
    pub flags: String,
    pub(super) settings: Settings,
    /// Whether the region, and with it the largest buffer, was given.
    pub(super) has_region: bool,
    /// The eden, in edens of the log.
    pub(super) eden: usize,
}

/// HotSpot's defaults.
impl Default for Candidate {
    fn default() -> Self {
        let settings = Settings { policy: TlabPolicy::Hotspot, ..Settings::default() };
        Self { name: DEFAULTS.into(), flags: "(defaults)".into(), settings, has_region: false, eden: 1 }
    }
}

impl Candidate {
    /// Reads a list: candidates are separated by `;`, the settings of one by `,`.
    ///
    /// ```
    /// use allotment_tools::tlab_log::Candidate;
    ///
    /// let list = Candidate::list("TLABSize=64k,ResizeTLAB=false;TLABPolicy=adaptive").unwrap();
    /// assert_eq!((list.len(), list[0].flags.as_str()), (2, "-XX:TLABSize=64k -XX:-ResizeTLAB"));
    /// assert!(Candidate::list("TLABSise=1").unwrap_err().contains("TLABSize"));
    /// ```
    ///
    /// # Errors
    /// Says which setting is wrong, and what can be set.
    pub fn list(text: &str) -> Result<Vec<Candidate>, String> {
        Candidate::default().with(text)
    }

    /// Reads one candidate.
    ///
    /// # Errors
    /// As [`Candidate::list`], and if there are several.
    pub fn one(text: &str) -> Result<Candidate, String> {
        let mut list = Candidate::list(text)?;
        match (list.pop(), list.is_empty()) {
            (Some(one), true) => Ok(one),
            _ => Err(format!("`{text}` has several lists; a JVM has one: write commas between its settings")),
        }
    }

    /// A note for JVMs that want more than the flags; empty for most candidates.
    ///
    /// JDK 17 takes `MinTLABSize` for the least buffer of its collectors' threads too, and does not
    /// start with an `OldPLABSize` (1024 words) below it. JDK 25 starts.
    pub(super) fn also(&self) -> String {
        const OLD_PLAB: usize = 8 << 10;
        let least = self.settings.min_tlab_size;
        if least <= OLD_PLAB {
            return String::new();
        }
        format!(" (with G1 and Parallel of JDK 17 also -XX:OldPLABSize={})", least.div_ceil(8))
    }

    /// These settings with the JVM's target of refills, where its log has it.
    #[must_use]
    pub fn aiming_at(mut self, target: Option<u64>) -> Self {
        if let Some(target) = target.filter(|target| (2..50).contains(target)) {
            // At most 25, and so a percentage.
            self.settings.waste_target_percent = 50 / target as usize;
        }
        self
    }

    /// Reads a list of changes to these settings.
    ///
    /// ```
    /// use allotment_tools::tlab_log::Candidate;
    ///
    /// let own = Candidate::list("TLABSize=64k").unwrap().remove(0);
    /// assert!(own.with("MinTLABSize=128k").unwrap_err().contains("cannot be less"));
    /// ```
    ///
    /// # Errors
    /// As [`Candidate::list`].
    pub fn with(&self, text: &str) -> Result<Vec<Candidate>, String> {
        let parts = text.split(';').map(str::trim).filter(|part| !part.is_empty());
        let list = parts.map(|part| self.read(part)).collect::<Result<Vec<_>, _>>()?;
        if list.is_empty() {
            return Err(format!("`{text}` names nothing to replay; write such as {BUILT_IN}"));
        }
        Ok(list)
    }

    fn read(&self, text: &str) -> Result<Candidate, String> {
        let mut candidate = Candidate { name: text.to_string(), ..self.clone() };
        let mut flags = Vec::new();
        let mut names = Vec::new();
        for setting in text.split(',').map(str::trim) {
            let (name, value) = setting
                .split_once('=')
                .ok_or_else(|| format!("`{setting}` in `{text}` has no value; write such as TLABSize=64k"))?;
            let name = name.trim();
            if names.contains(&name) {
                return Err(format!(
                    "{name} is set twice in `{text}`; write it once, or two candidates with a `;`"
                ));
            }
            names.push(name);
            flags.extend(candidate.set(name, value.trim())?);
        }
        candidate.check()?;
        candidate.flags = match candidate.settings.policy {
            TlabPolicy::Adaptive => "(allotment's; no JVM has it)".into(),
            _ if flags.is_empty() => self.flags.clone(),
            _ => flags.join(" "),
        };
        Ok(candidate)
    }

    /// Refuses sizes that no JVM starts with.
    fn check(&self) -> Result<(), String> {
        let Settings { tlab_size, min_tlab_size, region_size, .. } = self.settings;
        let (text, named) = (&self.name, |bytes: usize| size(bytes as u64));
        if tlab_size > 0 && tlab_size < min_tlab_size {
            return Err(format!(
                "`{text}`: TLABSize is {} and MinTLABSize is {}; it cannot be less",
                named(tlab_size),
                named(min_tlab_size)
            ));
        }
        let largest = tlab_size.max(min_tlab_size);
        if self.has_region && region_size < largest {
            return Err(format!(
                "`{text}`: a region of {} does not hold a buffer of {}; write a larger RegionSize",
                named(region_size),
                named(largest)
            ));
        }
        Ok(())
    }

    /// Sets one setting, and returns the flag for it.
    fn set(&mut self, name: &str, value: &str) -> Result<Option<String>, String> {
        let settings = &mut self.settings;
        let bytes = || {
            let bytes = parse_size(value)?;
            usize::try_from(bytes).map_err(|_| format!("`{value}` is too large"))
        };
        let number = |least: usize, most: usize| match value.parse::<usize>() {
            Ok(number) if (least..=most).contains(&number) => Ok(number),
            _ => Err(format!("{name}=`{value}`: write a whole number from {least} to {most}")),
        };
        match name {
            "TLABSize" => settings.tlab_size = bytes()?,
            "MinTLABSize" => settings.min_tlab_size = bytes()?,
            "RegionSize" => (settings.region_size, self.has_region) = (bytes()?, true),
            "Eden" => self.eden = number(1, 64)?,
            "ResizeTLAB" => {
                settings.resize = match value {
                    "true" | "on" => true,
                    "false" | "off" => false,
                    _ => return Err(format!("ResizeTLAB=`{value}`: write true or false")),
                }
            }
            "TLABWasteTargetPercent" => settings.waste_target_percent = number(1, 100)?,
            "TLABRefillWasteFraction" => settings.refill_waste_fraction = number(1, u32::MAX as usize)?,
            // Checked to be at most 100.
            "TLABAllocationWeight" => settings.allocation_weight = Some(number(0, 100)? as u8),
            "TLABPolicy" => {
                let named = TlabPolicy::ALL.iter().find(|policy| policy.name() == value);
                settings.policy = *named.ok_or_else(|| {
                    let names: Vec<&str> = TlabPolicy::ALL.iter().map(|policy| policy.name()).collect();
                    format!("TLABPolicy=`{value}`: write one of {}", names.join(", "))
                })?;
            }
            _ => {
                return Err(format!(
                    "`{name}` cannot be replayed; what can: TLABPolicy, TLABSize, MinTLABSize, ResizeTLAB, \
                     TLABWasteTargetPercent, TLABRefillWasteFraction, TLABAllocationWeight, RegionSize, Eden"
                ));
            }
        }
        if settings.min_tlab_size == 0 {
            return Err(format!("MinTLABSize=`{value}`: write a size of at least 1"));
        }
        Ok(match name {
            "RegionSize" => Some(format!("(regions of {value})")),
            "Eden" => Some(format!("(eden times {value}: -Xmn, -Xmx)")),
            "ResizeTLAB" => Some(format!("-XX:{}ResizeTLAB", if settings.resize { '+' } else { '-' })),
            "TLABPolicy" => of_policy(settings.policy).map(String::from),
            _ => Some(format!("-XX:{name}={value}")),
        })
    }
}

/// The JVM that has a policy.
const fn of_policy(policy: TlabPolicy) -> Option<&'static str> {
    match policy {
        TlabPolicy::Hotspot8381834 => Some("(a JDK with JDK-8381834)"),
        TlabPolicy::Shenandoah => Some("-XX:+UseShenandoahGC (before JDK-8359947)"),
        TlabPolicy::Shenandoah8359947 => Some("-XX:+UseShenandoahGC (since JDK-8359947)"),
        TlabPolicy::Epsilon => Some("-XX:+UnlockExperimentalVMOptions -XX:+UseEpsilonGC"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        let list = Candidate::list(BUILT_IN).unwrap();
        assert_eq!(list[0].flags, "(defaults)");
        let of = |name: &str| list.iter().find(|candidate| candidate.name == name).unwrap();
        let weight = of("TLABAllocationWeight=90");
        assert_eq!(weight.flags, "-XX:TLABAllocationWeight=90");
        assert_eq!(weight.settings.allocation_weight, Some(90));
        let fixed = &of("TLABSize=64k,ResizeTLAB=false").settings;
        assert!(!fixed.resize && fixed.tlab_size == 64 << 10);
        assert_eq!(list.last().unwrap().settings.policy, TlabPolicy::Adaptive);
    }

    #[test]
    fn mistakes_name_what_would_be_right() {
        for (wrong, hint) in [
            ("", "such as"),
            (" ; ", "such as"),
            ("TLABSize", "TLABSize=64k"),
            ("TLABSize=x", "not a size"),
            ("ResizeTLAB=2", "true or false"),
            ("TLABAllocationWeight=101", "0 to 100"),
            ("TLABWasteTargetPercent=0", "1 to 100"),
            ("TLABWasteTargetPercent=101", "1 to 100"),
            ("TLABRefillWasteFraction=0", "from 1 to"),
            ("MinTLABSize=0", "at least 1"),
            ("Eden=0", "from 1 to 64"),
            ("TLABSize=1k", "MinTLABSize is 2k"),
            ("TLABSize=4k,MinTLABSize=8k", "cannot be less"),
            ("RegionSize=0", "larger RegionSize"),
            ("RegionSize=16k,TLABSize=64k", "larger RegionSize"),
            ("TLABSize=64k,TLABSize=1m", "set twice"),
            ("TLABPolicy=best", "adaptive, hotspot"),
            ("UseTLAB=false", "TLABWasteTargetPercent"),
        ] {
            let error = Candidate::list(wrong).unwrap_err();
            assert!(error.contains(hint), "{wrong}: {error}");
        }
    }
}
