//! Sizings to try on a log: the user's text, its settings, and the JVM's flags for it.

use crate::format::number::{parse_size, size};
use allotment::options::TlabPolicy;
use allotment::tlab::sizing::Settings;

/// The default candidates: each of HotSpot's three flags by itself, HotSpot's newer sizing, and
/// this project's.
pub const BUILT_IN: &str = "TLABPolicy=hotspot;TLABAllocationWeight=90;TLABWasteTargetPercent=2;\
    TLABWasteTargetPercent=5;TLABSize=64k,ResizeTLAB=false;TLABSize=1m,ResizeTLAB=false;\
    TLABPolicy=hotspot-8381834;TLABPolicy=adaptive";

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
}

impl Candidate {
    /// Reads a list: candidates are separated by `;`, the settings of one by `,`.
    ///
    /// ```
    /// use allotment_lab::tlab_log::Candidate;
    ///
    /// let list = Candidate::list("TLABSize=64k,ResizeTLAB=false;TLABPolicy=adaptive").unwrap();
    /// assert_eq!((list.len(), list[0].flags.as_str()), (2, "-XX:TLABSize=64k -XX:-ResizeTLAB"));
    /// assert!(Candidate::list("TLABSise=1").unwrap_err().contains("TLABSize"));
    /// ```
    ///
    /// # Errors
    /// Says which setting is wrong, and what can be set.
    pub fn list(text: &str) -> Result<Vec<Candidate>, String> {
        let parts = text.split(';').map(str::trim).filter(|part| !part.is_empty());
        let list = parts.map(Candidate::read).collect::<Result<Vec<_>, _>>()?;
        if list.is_empty() {
            return Err(format!("`{text}` names nothing to replay; write such as {BUILT_IN}"));
        }
        Ok(list)
    }

    fn read(text: &str) -> Result<Candidate, String> {
        let settings = Settings { policy: TlabPolicy::Hotspot, ..Settings::default() };
        let mut candidate =
            Candidate { name: text.to_string(), flags: String::new(), settings, has_region: false };
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
            _ if flags.is_empty() => "(defaults)".into(),
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
        let sized = |bytes: usize| Some(format!("-XX:{name}={}", size(bytes as u64)));
        let plain = || Some(format!("-XX:{name}={value}"));
        Ok(match name {
            "TLABSize" => {
                settings.tlab_size = bytes()?;
                sized(settings.tlab_size)
            }
            "MinTLABSize" => {
                settings.min_tlab_size = bytes()?;
                if settings.min_tlab_size == 0 {
                    return Err(format!("MinTLABSize=`{value}`: write a size of at least 1"));
                }
                sized(settings.min_tlab_size)
            }
            "RegionSize" => {
                settings.region_size = bytes()?;
                self.has_region = true;
                Some(format!("(regions of {})", size(settings.region_size as u64)))
            }
            "ResizeTLAB" => {
                settings.resize = match value {
                    "true" | "on" => true,
                    "false" | "off" => false,
                    _ => return Err(format!("ResizeTLAB=`{value}`: write true or false")),
                };
                Some(format!("-XX:{}ResizeTLAB", if settings.resize { '+' } else { '-' }))
            }
            "TLABWasteTargetPercent" => {
                settings.waste_target_percent = number(1, 100)?;
                plain()
            }
            "TLABRefillWasteFraction" => {
                settings.refill_waste_fraction = number(1, u32::MAX as usize)?;
                plain()
            }
            "TLABAllocationWeight" => {
                // Checked to be at most 100.
                settings.allocation_weight = Some(number(0, 100)? as u8);
                plain()
            }
            "TLABPolicy" => {
                settings.policy = policy_named(value)
                    .ok_or_else(|| format!("TLABPolicy=`{value}`: write one of {}", policy_names()))?;
                of_policy(settings.policy).map(String::from)
            }
            _ => {
                return Err(format!(
                    "`{name}` cannot be replayed; what can: TLABPolicy, TLABSize, MinTLABSize, ResizeTLAB, \
                     TLABWasteTargetPercent, TLABRefillWasteFraction, TLABAllocationWeight, RegionSize"
                ));
            }
        })
    }
}

/// The policy of that name.
pub fn policy_named(text: &str) -> Option<TlabPolicy> {
    TlabPolicy::ALL.iter().copied().find(|policy| policy.name() == text)
}

/// The names of all policies, with commas between them.
pub fn policy_names() -> String {
    TlabPolicy::ALL.iter().map(|policy| policy.name()).collect::<Vec<_>>().join(", ")
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
        assert_eq!(list[1].flags, "-XX:TLABAllocationWeight=90");
        assert_eq!(list[1].settings.allocation_weight, Some(90));
        assert!(!list[4].settings.resize && list[4].settings.tlab_size == 64 << 10);
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
