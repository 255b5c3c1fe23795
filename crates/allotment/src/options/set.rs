//! The values of options during their collection: from the program, the environment, a command
//! line.
//!
//! Every value records its source. A stronger [`Source`] wins in any order of the calls; within one
//! source the later call wins. Single values are checked where text is read. All values are checked
//! together in [`OptionSet::finish`] (`rules/`), because only effective values can be in conflict.

use std::ffi::OsString;
use std::path::PathBuf;

use super::choices::{CollectorKind, RefillStrategy, ShenandoahMode, TlabPolicy};
use super::error::OptionError;
use super::items::{OPTIONS, OptionId, OptionInfo, OptionKind, Options};
use super::jvm_flags;
use super::kinds::{Switch, ValueKind};
use super::nearest::nearest;
use super::origin::{ENVIRONMENT_VARIABLE, Origin, Source};
use super::table::for_each_option;

/// The word that withdraws a value: `TLABSize=default`.
const TAKE_BACK: &str = "default";

/// Options with the origin of each value.
///
/// ```
/// use allotment::options::{OptionId, OptionSet, Origin, Source};
///
/// let mut set = OptionSet::new();
/// set.apply_str("MaxHeapSize=1g, TLABSize=64k, -ResizeTLAB", Source::CommandLine)?;
/// set.tlab_size(128 << 10); // Weaker than the command line.
/// let options = set.finish()?;
/// assert_eq!((options.tlab_size, options.resize_tlab), (64 << 10, false));
/// assert_eq!(set.origin(OptionId::TLABSize), Origin::Given(Source::CommandLine));
///
/// let error = set.apply_str("TLABSiz=64k", Source::CommandLine).unwrap_err();
/// assert_eq!(error.to_string(), "unknown option TLABSiz {command line}: did you mean TLABSize?");
/// # Ok::<(), allotment::options::OptionError>(())
/// ```
#[derive(Clone, Debug)]
pub struct OptionSet {
    options: Options,
    settings: [Setting; OPTIONS.len()],
}

/// The history of an option's value.
#[derive(Clone, Copy, Debug)]
struct Setting {
    /// The origin of the value.
    origin: Origin,
    /// The strongest source so far. It stays the strongest after it withdrew a value.
    decided_by: Option<Source>,
}

/// An option with its value and origin.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OptionRow {
    /// The description of the option.
    pub info: &'static OptionInfo,
    /// The value, in the user's notation.
    pub value: String,
    /// The origin of the value.
    pub origin: Origin,
}

impl Default for OptionSet {
    fn default() -> Self {
        Self {
            options: Options::default(),
            settings: [Setting { origin: Origin::Default, decided_by: None }; OPTIONS.len()],
        }
    }
}

impl OptionSet {
    /// All options at their defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets an option, by its name in the manual, to the value in `value`. `default` withdraws the
    /// values of this source and of weaker ones.
    ///
    /// # Errors
    ///
    /// [`OptionError::Unknown`] if there is no such option, [`OptionError::Value`] if it does not
    /// take this value. The set is then unchanged.
    pub fn set(&mut self, name: &str, value: &str, source: Source) -> Result<(), OptionError> {
        let info = find(name, source)?;
        let mut given = Options::default();
        let take_back = value.eq_ignore_ascii_case(TAKE_BACK);
        if !take_back {
            given.read(info.id, value).map_err(|reason| {
                let example = match info.kind {
                    OptionKind::Switch(_) => format!(", write +{name} or -{name}"),
                    _ => String::new(),
                };
                OptionError::Value {
                    name: info.name,
                    value: value.to_owned(),
                    origin: Origin::Given(source),
                    reason: reason + &example,
                    range: info.range(),
                }
            })?;
        }
        self.give(info.id, &given, if take_back { Origin::Default } else { Origin::Given(source) }, source);
        Ok(())
    }

    /// Applies a list of options, separated by commas or blanks: `+Name` and `-Name` for switches,
    /// `Name=value` for all, each with or without HotSpot's `-XX:` before it. Of two items for one
    /// option the later wins. A list without items changes nothing.
    ///
    /// # Errors
    ///
    /// Those of [`set`](Self::set), and [`OptionError::Form`] for an item of none of these forms.
    /// No item has been applied then.
    pub fn apply_str(&mut self, list: &str, source: Source) -> Result<(), OptionError> {
        let mut applied = self.clone();
        for item in list.split(|c: char| c == ',' || c.is_whitespace()).filter(|item| !item.is_empty()) {
            applied.apply_item(item, source)?;
        }
        *self = applied;
        Ok(())
    }

    /// Applies the list of options in the environment variable `ALLOTMENT_OPTIONS`, if it is set.
    ///
    /// # Errors
    ///
    /// Those of [`apply_str`](Self::apply_str), and [`OptionError::NotText`] if the variable is not
    /// UTF-8.
    pub fn apply_environment(&mut self) -> Result<(), OptionError> {
        self.apply_variable(std::env::var_os(ENVIRONMENT_VARIABLE))
    }

    /// Records the heap's choices: copies every value that differs in `chosen`, with the origin
    /// [`Origin::Ergonomic`].
    pub fn resolve(&mut self, chosen: &Options) {
        for info in OPTIONS {
            if self.options.text(info.id) != chosen.text(info.id) {
                self.options.copy(info.id, chosen);
                self.settings[info.id as usize].origin = Origin::Ergonomic;
            }
        }
    }

    /// The origin of an option's value.
    #[must_use]
    pub fn origin(&self, id: OptionId) -> Origin {
        self.settings[id as usize].origin
    }

    /// Whether a source gave the option its value.
    pub(crate) fn is_given(&self, id: OptionId) -> bool {
        matches!(self.origin(id), Origin::Given(_))
    }

    /// All options with their values and origins, in the order of the table.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = OptionRow> + '_ {
        OPTIONS.iter().map(|info| OptionRow {
            info,
            value: self.options.text(info.id),
            origin: self.origin(info.id),
        })
    }

    /// The values, not yet checked.
    pub(crate) fn values(&self) -> &Options {
        &self.options
    }

    /// Copies the value of an option from `given`, unless a stronger source has decided on it.
    fn give(&mut self, id: OptionId, given: &Options, origin: Origin, source: Source) {
        let setting = &mut self.settings[id as usize];
        if setting.decided_by.is_none_or(|stronger| stronger <= source) {
            *setting = Setting { origin, decided_by: Some(source) };
            self.options.copy(id, given);
        }
    }

    /// Applies one item of a list.
    fn apply_item(&mut self, item: &str, source: Source) -> Result<(), OptionError> {
        let refuse = |reason| Err(OptionError::Form { item: item.to_owned(), given_by: source, reason });
        if let Some(fault) = jvm_flags::fault(item) {
            return refuse(fault);
        }
        let bare = item.strip_prefix("-XX:").unwrap_or(item);
        if let Some((name, value)) = bare.split_once('=') {
            let Some(name) = name.strip_prefix(['+', '-']) else { return self.set(name, value, source) };
            find(name, source)?;
            return refuse(format!("a sign and a value, write {name}={value}"));
        }
        let (name, on) = match (bare.strip_prefix('+'), bare.strip_prefix('-')) {
            (Some(name), _) => (name, Some(true)),
            (None, Some(name)) => (name, Some(false)),
            (None, None) => (bare, None),
        };
        let info = find(name, source)?;
        match (info.kind, on) {
            (OptionKind::Switch(_), Some(on)) => self.set(name, &Switch.format(on), source),
            (OptionKind::Switch(_), None) => refuse(format!("neither on nor off, write +{name} or -{name}")),
            (_, Some(_)) => refuse(format!("not a switch, write {name}={}", example(info))),
            (_, None) => refuse(format!("the value is missing, write {name}={}", example(info))),
        }
    }

    /// Applies the list in `variable`, the value of the environment variable.
    fn apply_variable(&mut self, variable: Option<OsString>) -> Result<(), OptionError> {
        let Some(variable) = variable else { return Ok(()) };
        match variable.to_str() {
            Some(list) => self.apply_str(list, Source::Environment),
            None => Err(OptionError::NotText { value: variable.to_string_lossy().into_owned() }),
        }
    }
}

/// The option called `name`. An error blames `source`.
fn find(name: &str, source: Source) -> Result<&'static OptionInfo, OptionError> {
    OptionInfo::find(name).ok_or_else(|| {
        // HotSpot's name for an option with another name here counts as a misspelt name.
        let renamed = OPTIONS.iter().find(|info| info.hotspot.contains(&name)).map(|info| info.name);
        let suggestion = renamed.or_else(|| nearest(name, OPTIONS.iter().map(|info| info.name)));
        OptionError::Unknown { name: name.to_owned(), given_by: source, suggestion }
    })
}

/// An example value for a message about the notation.
fn example(info: &OptionInfo) -> String {
    format!("{} (it takes {})", info.default_text(), info.range())
}

/// Turns the rows of the table into one setter each.
macro_rules! setters {
    ($($(#[doc = $text:literal])+
        $name:ident, $field:ident: $type:ty = $default:expr, $limits:expr,
        [$($hotspot:literal),*] $difference:literal;)+) => {
        /// The choices of the program that embeds the heap, [`Source::Builder`].
        /// [`finish`](OptionSet::finish) refuses a value outside its limits, unless a stronger
        /// source replaces it.
        impl OptionSet {
            $($(#[doc = $text])+
            #[doc = concat!("\n\nOption `", stringify!($name), "`.")]
            pub fn $field(&mut self, value: $type) -> &mut Self {
                let given = Options { $field: value, ..Options::default() };
                self.give(OptionId::$name, &given, Origin::Given(Source::Builder), Source::Builder);
                self
            })+
        }
    };
}
for_each_option!(setters);
