//! `allotment profile`: where a program allocates, and what has come between two profiles.
//!
//! The tables are those of `go tool pprof -top`, for machines without Go, with the shapes of the
//! objects beside the functions. Values are printed as they are, so that scripts can read them.
//! Largest values come first, whatever their signs, and a percentage has the sign of its value.

mod html;
mod symbolize;

pub use html::HtmlArguments;
pub use symbolize::SymbolizeArguments;

use super::{failed, incomparable};
use crate::pprof::{Profile, SampleType, Sums, factor, names};
use allotment_report::command::rows::{both_readable, named, on_one_line, share};
use allotment_report::command::table;
use allotment_report::command::{Failure, print};
use allotment_report::format::{binary, open_binary, width};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// The commands for allocation profiles, and for other files in pprof's form.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum ProfileArguments {
    /// Print the functions and the shapes with the largest values.
    Top(TopArguments),
    /// Print the functions and the shapes by how much their values have changed.
    Diff(DiffArguments),
    /// Write names of functions, files and lines into a profile that has addresses.
    Symbolize(SymbolizeArguments),
    /// Write a flame graph: one page for a browser, with all sample types.
    Html(HtmlArguments),
}

impl ProfileArguments {
    /// The advice where nothing follows `profile`.
    pub const NOTHING_GIVEN: &str =
        "nothing to do was given; write allotment profile top, diff, symbolize or html";
}

/// A profile, and how much of it is shown.
#[derive(Clone, Debug, clap::Args)]
pub struct TopArguments {
    /// The profile, packed by gzip or not.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// The values and rows to show.
    #[command(flatten)]
    pub table: TableArguments,
}

/// Two profiles, and how much of their difference is shown.
#[derive(Clone, Debug, clap::Args)]
pub struct DiffArguments {
    /// The earlier profile.
    #[arg(value_name = "BEFORE")]
    pub before: PathBuf,

    /// The later one.
    #[arg(value_name = "AFTER")]
    pub after: PathBuf,

    /// The values and rows to show.
    #[command(flatten)]
    pub table: TableArguments,
}

/// Which values and rows of profiles to show.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct TableArguments {
    /// Show the values of this sample type, such as alloc_space [default: that of the file, or of the
    /// first of two files].
    #[arg(long, value_name = "NAME")]
    pub sample_type: Option<String>,

    /// Sort functions by the column cum, not by flat.
    #[arg(long)]
    pub cum: bool,

    /// Show at most this many rows of each table; 0 shows all.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,
}

/// Reads profiles and prints what was asked for.
///
/// # Errors
/// [`Failure::Failed`] if a file cannot be read or written or is not a profile, if two profiles have
/// other values, or if nothing was found to name. [`Failure::Usage`] if both files are standard
/// input, or an output is an input.
pub(super) fn profile(arguments: &ProfileArguments) -> Result<(), Failure> {
    let columns = width::of_output();
    let text = match arguments {
        ProfileArguments::Symbolize(arguments) => symbolize::symbolize(arguments)?,
        ProfileArguments::Html(arguments) => html::html(arguments)?,
        ProfileArguments::Top(one) => {
            top(&open(&one.file, one.table.sample_type.as_deref())?, &one.table, columns)
        }
        ProfileArguments::Diff(two) => {
            both_readable(&two.before, &two.after)?;
            let before = open(&two.before, two.table.sample_type.as_deref())?;
            // Two files may have the same sample types and other defaults, as Go's profiles of the
            // heap and of allocations have. In-use values less allocated ones would be nonsense.
            let after = open(&two.after, Some(&before.sample_type().name))?;
            diff(before, after, &two.table, columns)
                .map_err(|why| incomparable(&two.before, &two.after, &why))?
        }
    };
    print(&text)
}

/// All output for a profile with these bytes, or why they are not a profile. It does the work of
/// `profile` without files, so that a test can call it with arbitrary bytes.
///
/// # Errors
/// Why the bytes are not a profile.
pub fn tell_profile(bytes: &[u8]) -> Result<String, String> {
    let file = || binary("the profile", Cursor::new(bytes.to_vec())).map_err(|error| error.to_string());
    let read = |wanted: Option<&str>| Profile::read(file()?, wanted).map_err(|error| error.to_string());
    let default = read(None)?;
    let first = read(Some(&default.sample_types[0].name))?;
    let all = TableArguments::default();
    Ok(top(&default, &all, None)
        + &diff(default.clone(), default, &TableArguments { cum: true, ..all }, Some(40))?
        + &top(&first, &TableArguments::default(), None)
        + &symbolize::tell(file()?)?
        // A page shows no negative values, so for these there is none.
        + &html::tell(file()?).unwrap_or_default())
}

/// Reads a file, which may be packed by gzip.
fn open(path: &Path, sample_type: Option<&str>) -> Result<Profile, Failure> {
    let file = open_binary(path).map_err(failed)?;
    Profile::read(file, sample_type).map_err(|error| named(path, &error))
}

/// The head of a table: the sum, and what the profile has to say.
fn head(profile: &Profile) -> String {
    let SampleType { name, unit } = profile.sample_type();
    let mut text = format!("{}: {} {}", on_one_line(name), profile.total, on_one_line(unit));
    if profile.period != 0 {
        let _ = write!(text, "; a sample in {} {}", profile.period, on_one_line(&profile.period_type.unit));
    }
    text.push('\n');
    if profile.is_difference {
        let _ = writeln!(text, "percentages are of the earlier profile's {}", profile.magnitude);
    } else if profile.magnitude != profile.total {
        let _ = writeln!(text, "percentages are of {}, the sum without signs", profile.magnitude);
    }
    for line in profile.comments.iter().flat_map(|comment| comment.lines()) {
        let _ = writeln!(text, "{}", on_one_line(line));
    }
    text
}

/// The rows in the order in which they are shown: the largest changes and values first, whatever
/// their signs.
fn sorted<'a>(functions: impl Iterator<Item = (&'a str, Sums)>, by_cumulative: bool) -> Vec<(&'a str, Sums)> {
    let mut rows: Vec<_> = functions.filter(|(_, sums)| *sums != Sums::default()).collect();
    rows.sort_by(|(name, a), (other, b)| {
        let flat = b.flat.abs().cmp(&a.flat.abs());
        let cumulative = b.cumulative.abs().cmp(&a.cumulative.abs());
        if by_cumulative { cumulative.then(flat) } else { flat.then(cumulative) }.then(name.cmp(other))
    });
    rows
}

/// Adds the tables of functions and of shapes, with `note` between them. `cells` makes two cells of
/// a sum: the sum, and its percentage.
fn add_tables<'a>(
    text: &mut String,
    functions: impl Iterator<Item = (&'a str, Sums)>,
    note: &str,
    shapes: impl Iterator<Item = (&'a str, i128)>,
    table: &TableArguments,
    columns: Option<usize>,
    cells: impl Fn(i128) -> [String; 2],
) {
    let head = ["flat", "%", "cum", "%", "function"];
    text.push('\n');
    table::add(text, head, &sorted(functions, table.cum), table.top, columns, |(name, sums)| {
        let ([flat, share], [cumulative, whole_share]) = (cells(sums.flat), cells(sums.cumulative));
        [flat, share, cumulative, whole_share, on_one_line(name).into_owned()]
    });
    *text += note;
    // The sums of shapes are flat.
    let shapes = sorted(shapes.map(|(name, flat)| (name, Sums { flat, cumulative: 0 })), false);
    if !shapes.is_empty() {
        text.push('\n');
        table::add(text, ["flat", "%", "shape"], &shapes, table.top, columns, |(name, sums)| {
            let [flat, share] = cells(sums.flat);
            [flat, share, on_one_line(name).into_owned()]
        });
    }
}

fn top(profile: &Profile, table: &TableArguments, columns: Option<usize>) -> String {
    let note = match profile.unnamed {
        0 => String::new(),
        unnamed => format!("{unnamed} functions have no name; `allotment profile symbolize` adds names\n"),
    };
    let functions = profile.functions.iter().map(|(name, sums)| (name.as_str(), *sums));
    let shapes = profile.shapes.iter().map(|(name, value)| (name.as_str(), *value));
    let cells = |sum: i128| [sum.to_string(), format!("{:.1}", share(sum, profile.magnitude))];
    let mut text = head(profile);
    add_tables(&mut text, functions, &note, shapes, table, columns, cells);
    text
}

/// The difference of each name: `after` less `before`.
fn grown<'a, T: Copy + Default>(
    before: &'a BTreeMap<String, T>,
    after: &'a BTreeMap<String, T>,
    less: impl Fn(T, T) -> T,
) -> impl Iterator<Item = (&'a str, T)> {
    let gone = before.keys().filter(|name| !after.contains_key(*name));
    let of = |all: &BTreeMap<String, T>, name: &String| all.get(name).copied().unwrap_or_default();
    let names = after.keys().chain(gone);
    names.map(move |name| (name.as_str(), less(of(after, name), of(before, name))))
}

/// Gives the chosen sample types of two profiles one unit, the finer of the two.
///
/// # Errors
/// They have other values.
fn in_one_unit(before: &mut Profile, after: &mut Profile) -> Result<(), String> {
    let alike = |one: &SampleType, other: &SampleType| {
        // Writers differ in an `s`, as in `object` and `objects`.
        let names = [one, other].map(|kind| kind.name.strip_suffix('s').unwrap_or(&kind.name));
        names[0] == names[1] && factor(&one.unit, &other.unit).is_some()
    };
    let of_one_kind = before.sample_types.len() == after.sample_types.len()
        && before.sample_types.iter().zip(&after.sample_types).all(|(one, other)| alike(one, other))
        && alike(&before.period_type, &after.period_type);
    let [one, other] = [&*before, &*after].map(|profile| profile.sample_type().unit.clone());
    // Of two types with one name the other one may be chosen.
    match factor(&one, &other) {
        Some((times, parts)) if of_one_kind && before.chosen == after.chosen => {
            before.scale(times);
            after.scale(parts);
            let finer = if times > 1 { other } else { one };
            let chosen = after.chosen;
            after.sample_types[chosen].unit = finer;
            Ok(())
        }
        _ => {
            let [one, other] = [&*before, &*after].map(|profile| {
                let SampleType { name, unit } = &profile.period_type;
                format!("{}, a sample by {name} ({unit})", names(&profile.sample_types))
            });
            Err(format!("the two have different values: the first has {one}; the second has {other}"))
        }
    }
}

fn diff(
    mut before: Profile,
    mut after: Profile,
    table: &TableArguments,
    columns: Option<usize>,
) -> Result<String, String> {
    in_one_unit(&mut before, &mut after)?;
    let SampleType { name, unit } = after.sample_type();
    let mut text = format!(
        "{}: {:+} {} ({} before, {} after)\n",
        on_one_line(name),
        after.total - before.total,
        on_one_line(unit),
        before.total,
        after.total
    );
    let whole = before.magnitude;
    if whole != 0 {
        let _ = writeln!(text, "percentages are of the {whole} before");
    }
    let cells = |sum: i128| match whole {
        0 => [format!("{sum:+}"), "-".to_owned()],
        _ => [format!("{sum:+}"), format!("{:+.1}", share(sum, whole))],
    };
    let less = |a: Sums, b: Sums| Sums { flat: a.flat - b.flat, cumulative: a.cumulative - b.cumulative };
    let functions = grown(&before.functions, &after.functions, less);
    let shapes = grown(&before.shapes, &after.shapes, |a: i128, b: i128| a - b);
    add_tables(&mut text, functions, "", shapes, table, columns, cells);
    Ok(text)
}
