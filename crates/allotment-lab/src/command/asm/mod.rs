//! `allotment asm`: what an allocation becomes, next to what HotSpot's C2 makes of the same.
//!
//! Ours is what [`allotment_jit`] emits, decoded from its bytes. HotSpot's is described by data ([`hotspot`]): which
//! instructions there are and what they do is computed from the same settings by HotSpot's formulas. Refused: to run a Java
//! virtual machine and print what it says. It needs one, and a disassembler for it, and shows one instruction
//! scheduler's order among others.
//!
//! | module | knows |
//! |---|---|
//! | [`arguments`] | what was asked |
//! | [`ours`] | how to emit it |
//! | [`stage`] | what an instruction is for |
//! | [`hotspot`] | HotSpot's side |
//! | [`figures`] | what can be said without measuring |
//! | [`profile`] | what a run says |
//! | [`page`] | how all of it is printed |

mod arguments;
mod figures;
mod hotspot;
mod ours;
mod page;
mod profile;
mod stage;
#[cfg(test)]
mod tests;

pub use arguments::AsmArguments;

use super::{Failure, print};
use arguments::{Layout, Question, refused};
use ours::Ours;
use page::{Page, Width};
use rustix::termios::tcgetwinsize;
use std::io::{self, IsTerminal};

/// Prints what was asked for.
///
/// # Errors
/// [`Failure::Usage`] for what cannot be emitted, with the nearest that can; [`Failure::Failed`] where there is no heap to
/// take headers from; [`Failure::NobodyReads`].
pub fn asm(arguments: &AsmArguments) -> Result<(), Failure> {
    let question = Question::of(arguments)?;
    let ours = Ours::emit(&question).map_err(|error| refused(&question, &error))?;
    let profile = arguments.profile.map(|time| {
        let eden = arguments.eden.map(|eden| usize::try_from(eden).unwrap_or(usize::MAX));
        profile::run(&question, &ours, time, eden)
    });
    if let Some(Err(profile::Unprofiled::Asked(text))) = profile {
        return Err(Failure::Usage(text));
    }
    let width = match (arguments.layout, terminal_width()) {
        (Layout::Beside, _) => Width::Any,
        (Layout::Auto, Some(columns)) => Width::Columns(columns),
        (Layout::Below, Some(columns)) => Width::Narrow(columns),
        (_, None) => Width::Narrow(page::WITHOUT_TERMINAL),
    };
    print(
        &Page {
            question: &question,
            ours: &ours,
            profile: profile.as_ref(),
            width,
            barriers: arguments.barriers,
        }
        .text()?,
    )
}

/// Columns of the terminal that standard output is, if it is one.
fn terminal_width() -> Option<u16> {
    let output = io::stdout();
    if !output.is_terminal() {
        return None;
    }
    tcgetwinsize(&output).ok().map(|size| size.ws_col).filter(|columns| *columns > 0)
}
