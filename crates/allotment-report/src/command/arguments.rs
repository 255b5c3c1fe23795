//! A command line for clap: arguments as its parser takes them, and its errors in one line each.

use super::Failure;
use clap::error::ErrorKind;
use std::error::Error;
use std::ffi::OsString;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};

/// Joins a value that begins like a negative number to its flag: `--time -5ms` becomes
/// `--time=-5ms`. clap takes such a value for a flag and advises `-- -5ms`, which would make the
/// value an experiment. After the join, the flag's own parser reports what is wrong with the value.
/// No flag of this command begins with a digit.
pub fn joined(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut all: Vec<OsString> = Vec::new();
    for argument in arguments {
        let is_negative = match argument.as_encoded_bytes() {
            [b'-', first, ..] => first.is_ascii_digit() || *first == b'.',
            _ => false,
        };
        match all.last_mut() {
            Some(flag) if is_negative && takes_joined(flag.as_encoded_bytes()) => {
                if flag.as_encoded_bytes().starts_with(b"--") {
                    flag.push("=");
                }
                flag.push(argument);
            }
            _ => all.push(argument),
        }
    }
    all
}

/// Whether an argument is a flag without its value, `--time` or `-f`.
fn takes_joined(flag: &[u8]) -> bool {
    match flag {
        [b'-', b'-', name @ ..] => !name.is_empty() && !name.contains(&b'='),
        [b'-', letter] => letter.is_ascii_alphabetic(),
        _ => false,
    }
}

/// An error of clap as a failure: a line of cause and hint, or the text of help and version.
/// `nothing_given` gives the advice for a command line that ends too early. Its argument is clap's
/// text, which names the command.
pub fn failure_of(error: &clap::Error, nothing_given: impl FnOnce(&str) -> String) -> Failure {
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Failure::Told(text),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Failure::Usage(nothing_given(&text)),
        _ => {
            let before_usage = text.split("\nUsage:").next().unwrap_or_default();
            let line = before_usage.trim().trim_start_matches("error: ").replace("\n\n", "; ");
            Failure::Usage(match plain_cause(error) {
                Some((cause, plain)) => line.replace(&cause, plain),
                None => line,
            })
        }
    }
}

/// If the cause of an error is a parser of numbers in `std`: the parser's text, and a text that says
/// what to write instead.
fn plain_cause(error: &clap::Error) -> Option<(String, &'static str)> {
    let cause = error.source()?;
    let plain = match cause.downcast_ref::<ParseIntError>().map(ParseIntError::kind) {
        Some(IntErrorKind::PosOverflow | IntErrorKind::NegOverflow) => "the number is too large",
        Some(_) => "write a whole number",
        None => cause.downcast_ref::<ParseFloatError>().map(|_| "write a number")?,
    };
    Some((cause.to_string(), plain))
}
