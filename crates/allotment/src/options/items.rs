//! The items that the rows of the option table generate: values, names and descriptions.
//!
//! They are separate from the rows, so that the table is only a table. Refused: to write the fields
//! of [`Options`] by hand. A field and its row could then disagree.

use super::choices::{CollectorKind, RefillStrategy, ShenandoahMode, TlabPolicy};
use super::kinds::{Choice, Count, GIB, KIB, MIB, Milliseconds, Path, Real, Size, Switch, TIB, ValueKind};
use super::table::{
    MAX_COUNT, MAX_PREFETCH_DISTANCE, MAX_PREFETCH_LINES, MAX_PREFETCH_STEP, for_each_option,
};
use std::path::PathBuf;

/// The type and the limits of an option.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum OptionKind {
    /// A boolean.
    Switch(Switch),
    /// A number of bytes.
    Size(Size),
    /// A whole number.
    Count(Count),
    /// A duration in milliseconds.
    Milliseconds(Milliseconds),
    /// A number with a decimal point.
    Real(Real),
    /// One of several names.
    Choice(Choice),
    /// A path.
    Path(Path),
}

/// Makes each type of limits a kind of option.
macro_rules! kinds {
    ($($kind:ident),+) => {$(
        impl $kind {
            const fn kind(self) -> OptionKind {
                OptionKind::$kind(self)
            }
        }
    )+};
}
kinds!(Switch, Size, Count, Milliseconds, Real, Choice, Path);

/// The description of an option, apart from its value.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct OptionInfo {
    /// The option's identifier.
    pub id: OptionId,
    /// The user's name for it; HotSpot's name where HotSpot has an option of the same meaning.
    pub name: &'static str,
    /// The name of its field in [`Options`] and of its setter.
    pub field: &'static str,
    /// Its type and limits.
    pub kind: OptionKind,
    /// Its effect, in one line.
    pub text: &'static str,
    /// HotSpot's counterparts, best known first; empty if there is none.
    pub hotspot: &'static [&'static str],
    /// HotSpot's difference, in one line; empty if the meaning and the default are the same.
    pub difference: &'static str,
}

impl OptionInfo {
    /// The option with the user's name `name`, which is case-sensitive.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        OPTIONS.iter().find(|info| info.name == name)
    }

    /// The default, in the user's notation.
    #[must_use]
    pub fn default_text(&self) -> String {
        Options::default().text(self.id)
    }

    /// The word for its type: `switch`, `size`, `count`, `milliseconds`, `real`, `choice` or
    /// `path`.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self.kind {
            OptionKind::Switch(_) => "switch",
            OptionKind::Size(_) => "size",
            OptionKind::Count(_) => "count",
            OptionKind::Milliseconds(_) => "milliseconds",
            OptionKind::Real(_) => "real",
            OptionKind::Choice(_) => "choice",
            OptionKind::Path(_) => "path",
        }
    }

    /// The values it takes, for example `0 or 256k..32m, a power of two`. Ranges include both ends.
    #[must_use]
    pub fn range(&self) -> String {
        match self.kind {
            OptionKind::Switch(_) => "true or false".to_owned(),
            OptionKind::Size(size) => size.range(),
            OptionKind::Count(Count { min, max }) => format!("{min}..{max}"),
            OptionKind::Milliseconds(Milliseconds { min, max }) => format!("{min}..{max}"),
            OptionKind::Real(real) => real.range(),
            OptionKind::Choice(Choice { names }) => {
                names.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
            }
            OptionKind::Path(_) => "a path without commas and blanks; none if it is empty".to_owned(),
        }
    }
}

/// Turns the rows into [`Options`], [`OptionId`] and [`OPTIONS`].
macro_rules! declare {
    ($($(#[doc = $text:literal])+
        $name:ident, $field:ident: $type:ty = $default:expr, $limits:expr,
        [$($hotspot:literal),*] $difference:literal;)+) => {
        /// The values of all options.
        ///
        /// [`OptionSet::finish`](super::OptionSet::finish) makes one whose values are within their
        /// limits and can work together. Where a limit says "0 or", 0 leaves the choice to the
        /// heap.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub struct Options {
            $($(#[doc = $text])+
            #[doc = concat!("\n\nOption `", stringify!($name), "`, by default `", stringify!($default), "`.")]
            pub $field: $type,)+
        }

        impl Default for Options {
            fn default() -> Self {
                Self { $($field: $default,)+ }
            }
        }

        /// Names an option of the table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum OptionId {
            $($(#[doc = $text])+
            $name,)+
        }

        /// The table of options, in the order of the manual; `OPTIONS[id as usize].id == id`.
        pub const OPTIONS: &[OptionInfo] = &[$(OptionInfo {
            id: OptionId::$name,
            name: stringify!($name),
            field: stringify!($field),
            kind: ($limits).kind(),
            text: concat!($($text),+).trim_ascii(),
            hotspot: &[$($hotspot),*],
            difference: $difference,
        },)+];

        // The value of an option may be a path, which is cloned; the others could be copied.
        #[allow(clippy::clone_on_copy)]
        impl Options {
            /// The value of an option, in the user's notation.
            #[must_use]
            pub fn text(&self, id: OptionId) -> String {
                match id {
                    $(OptionId::$name => ValueKind::<$type>::format(&($limits), Clone::clone(&self.$field)),)+
                }
            }

            /// Reads `text` as the value of an option. On an error, returns the fault and changes
            /// nothing.
            pub(super) fn read(&mut self, id: OptionId, text: &str) -> Result<(), String> {
                match id {
                    $(OptionId::$name => {
                        let value: $type = ($limits).parse(text)?;
                        ($limits).check(Clone::clone(&value))?;
                        self.$field = value;
                    })+
                }
                Ok(())
            }

            /// Returns the fault in the value of an option if it is outside its limits.
            pub(super) fn check(&self, id: OptionId) -> Result<(), String> {
                match id {
                    $(OptionId::$name => ($limits).check(Clone::clone(&self.$field)),)+
                }
            }

            /// Copies the value of an option from `other`.
            pub(super) fn copy(&mut self, id: OptionId, other: &Self) {
                match id {
                    $(OptionId::$name => self.$field = Clone::clone(&other.$field),)+
                }
            }
        }
    };
}
for_each_option!(declare);

impl OptionId {
    /// The description of the option.
    #[must_use]
    pub fn info(self) -> &'static OptionInfo {
        &OPTIONS[self as usize]
    }
}
