//! `allotment profile symbolize`: names for a profile that was written without them.
//!
//! That is the profile of a stripped program, of one that was built without the feature `symbols`, or
//! of another machine. Files are found by their build ids, and a file of another build is refused:
//! its names would be wrong.

use super::failed;
use crate::pprof::{Symbolized, SymbolizedMapping, symbolize as names_in};
use allotment_report::command::Failure;
use allotment_report::command::rows::named;
use allotment_report::format::{Input, OutputFile, check_printed_files, open_binary};
use allotment_symbols::{Binary, Symbols};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fmt::Write as _;
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};

/// A profile that gets names.
#[derive(Clone, Debug, clap::Args)]
pub struct SymbolizeArguments {
    /// The profile, packed by gzip or not; `-` is standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Take names from this program, library or separate debug file, for code whose file has moved or
    /// is stripped. Its build id says which code that is. May be given several times.
    #[arg(long, value_name = "PATH")]
    pub binary: Vec<PathBuf>,

    /// Write the profile here, packed; `-` is standard output [default: FILE itself is replaced].
    #[arg(long, short = 'o', value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Names the addresses of a profile, writes it and says what was named.
pub(super) fn symbolize(arguments: &SymbolizeArguments) -> Result<String, Failure> {
    let SymbolizeArguments { file, binary, output } = arguments;
    if let Some(path) = output.as_deref().filter(|path| *path != file) {
        check_printed_files(std::slice::from_ref(file), &[("--output", path)])?;
    }
    // Standard input is answered on standard output.
    let output = output.as_deref().unwrap_or(file);
    let given = binary.iter().map(|path| Binary::open(path).map_err(|error| named(path, &error)));
    let mut symbols = Symbols::new(given.collect::<Result<_, _>>()?);
    let input = open_binary(file).map_err(failed)?;
    let found = names_in(input, &mut symbols).map_err(|error| named(file, &error))?;
    if let Some(unused) = symbols.unused().next() {
        return Err(failed(no_part(unused, &found)));
    }
    let told = told(&found);
    let named_now: u64 = found.mappings.iter().map(|mapping| mapping.named).sum();
    if named_now == 0 && found.mappings.iter().any(|mapping| mapping.named_before < mapping.addresses) {
        let why = told.lines().collect::<Vec<_>>().join("; ");
        let name = Input::quoted(file);
        return Err(failed(format!("no address of {name} was named, and nothing is written: {why}")));
    }
    if named_now > 0 || output != file {
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        let packed = packed.write_all(&found.bytes).and_then(|()| packed.finish());
        OutputFile::open(output)?.write(&packed.map_err(failed)?)?;
    }
    // The profile itself is there.
    Ok(if output.as_os_str() == "-" { String::new() } else { told })
}

/// The output for a profile; for a test with arbitrary bytes.
///
/// # Errors
/// Why the bytes are not a profile.
pub(super) fn tell(profile: impl Read) -> Result<String, String> {
    let found = names_in(profile, &mut Symbols::default()).map_err(|error| error.to_string())?;
    Ok(told(&found))
}

/// Why a file that was given is of no use.
fn no_part(unused: &Binary, found: &Symbolized) -> String {
    let id = |id: &str| if id.is_empty() { "no build id".into() } else { format!("the build id {id}") };
    let has: Vec<String> = found
        .mappings
        .iter()
        .map(|mapping| format!("`{}` with {}", mapping.path.display(), id(&mapping.build_id)))
        .collect();
    let has = if has.is_empty() { "no code of any file".into() } else { has.join(", ") };
    format!(
        "`{}` has {}, and no code of the profile is of it; the profile has {has}",
        unused.path().display(),
        id(unused.build_id())
    )
}

/// A line for each file with code of the profile.
fn told(found: &Symbolized) -> String {
    let mut text = String::new();
    for mapping in &found.mappings {
        let SymbolizedMapping { path, build_id, is_found, addresses, named_before, named } = mapping;
        let name = path.file_name().unwrap_or(path.as_os_str());
        let name = Path::new(name).display().to_string();
        let name = super::on_one_line(&name);
        let _ = write!(text, "{name}: {named} of {addresses} addresses named");
        if *named_before > 0 {
            let _ = write!(text, ", {named_before} already had names");
        }
        if named + named_before < *addresses {
            let id = match &**build_id {
                "" => String::new(),
                id => format!(" (build id {})", super::on_one_line(id)),
            };
            let why = match is_found {
                true => "has no names for the rest: name one that is not stripped with --binary",
                false => "was not found here: name it with --binary",
            };
            let _ = write!(text, "; its file{id} {why}");
        }
        text.push('\n');
    }
    if found.mappings.is_empty() && found.elsewhere == 0 {
        text += "every address already has a name\n";
    }
    if found.elsewhere > 0 {
        let _ = writeln!(text, "{} addresses belong to no file", found.elsewhere);
    }
    text
}
