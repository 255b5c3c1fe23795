//! The options that choose among named behaviours, as enums.
//!
//! One list per option gives the user's name, the variant and the line in the manual. So parsing,
//! printing and the manual cannot disagree.
//!
//! Refused: one switch per behaviour, HotSpot's way of choosing a collector. Switches can
//! contradict each other; a choice cannot.

use std::fmt::{self, Display};

/// A set of named behaviours. A variant prints as its name.
pub(super) trait Named: Copy + Display + 'static {
    /// Every variant, in the order in which the manual lists them.
    const ALL: &'static [Self];
}

/// Declares an enum whose variants each have a name and one line of text. The text is also their
/// documentation.
macro_rules! choice {
    ($(#[$outer:meta])* pub enum $enum:ident {
        $(#[doc = $text:literal] $(#[$inner:meta])* $variant:ident = $name:literal,)+
    }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $enum { $(#[doc = $text] $(#[$inner])* $variant,)+ }

        impl $enum {
            /// Every variant, in the order in which the manual lists them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The names of the variants, each with its meaning in one line, in the order of
            /// [`ALL`](Self::ALL).
            pub const NAMES: &'static [(&'static str, &'static str)] = &[$(($name, $text.trim_ascii()),)+];

            /// The user's name for this variant.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }

        impl Named for $enum {
            const ALL: &'static [Self] = Self::ALL;
        }

        impl Display for $enum {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.pad(self.name())
            }
        }
    };
}

choice! {
    /// How a thread's next buffer is sized (option `TLABPolicy`).
    pub enum TlabPolicy {
        /// Starts small, doubles while refills come quickly, decays when idle.
        #[default]
        Adaptive = "adaptive",
        /// HotSpot's sizing as it was before JDK-8381834.
        Hotspot = "hotspot",
        /// HotSpot's sizing since JDK-8381834: starts smaller, grows in a cycle.
        Hotspot8381834 = "hotspot-8381834",
        /// Shenandoah's limits before JDK-8359947 on HotSpot's sizing.
        Shenandoah = "shenandoah",
        /// Shenandoah's limits since JDK-8359947 on HotSpot's sizing.
        Shenandoah8359947 = "shenandoah-8359947",
        /// Epsilon's elastic sizing: grows at each refill, decays when idle.
        Epsilon = "epsilon",
    }
}

choice! {
    /// How a thread takes memory from a region (option `RefillStrategy`).
    pub enum RefillStrategy {
        /// Compare-and-exchange on the top of one of AllocationRegions regions.
        #[default]
        Cas = "cas",
        /// One region for all threads, under the heap lock.
        Lock = "lock",
    }
}

choice! {
    /// The action when the heap is full (option `Collector`).
    pub enum CollectorKind {
        /// Often copies live young objects; seldom slides all live objects.
        #[default]
        Parallel = "parallel",
        /// Marks and copies live objects while threads run.
        Shenandoah = "shenandoah",
        /// Stops all threads, marks the live objects and slides them together.
        MarkCompact = "mark-compact",
        /// Never collects: an allocation fails when the heap is full.
        Epsilon = "epsilon",
    }
}

choice! {
    /// When the cycles of `Collector=shenandoah` run (option `ShenandoahGCMode`).
    pub enum ShenandoahMode {
        /// While threads run, from a snapshot at the beginning.
        #[default]
        Satb = "satb",
        /// While threads run; most cycles mark young objects only.
        Generational = "generational",
        /// In stops, when the heap is full: for tests and comparisons.
        Passive = "passive",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_variants() {
        for (policy, (name, text)) in TlabPolicy::ALL.iter().zip(TlabPolicy::NAMES) {
            assert_eq!(policy.name(), *name);
            assert!(!text.is_empty() && text.ends_with('.'), "{name}: {text:?}");
        }
        assert_eq!(TlabPolicy::ALL.len(), TlabPolicy::NAMES.len());
        assert_eq!(format!("{:>9}", RefillStrategy::Cas), "      cas");
    }
}
