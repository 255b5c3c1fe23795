//! `allotment asm`: the machine code of an allocation, next to the code that HotSpot's C2 makes of
//! the same allocation.
//!
//! This project's side is the code that [`allotment_jit`] emits, decoded from its bytes. HotSpot's
//! side is data ([`hotspot`]): its instructions and their effects are computed from the same
//! settings by HotSpot's formulas.
//!
//! Refused: running a Java virtual machine and printing its code. That needs a JVM and a
//! disassembler for it, and shows the order of one instruction scheduler among others.
//!
//! The code is that of x86-64. Another machine prints it for a processor that is named.
//!
//! | module | content |
//! |---|---|
//! | [`arguments`] | the user's question |
//! | [`ours`] | emitting the sequence |
//! | [`stage`] | the purpose of each instruction |
//! | [`hotspot`] | HotSpot's side |
//! | [`figures`] | facts that need no measurement |
//! | [`profile`] | the samples of a run |
//! | [`page`] | the printed page |

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
use crate::format::width;
use allotment::raw::Processor;
use arguments::{Question, refused};
use ours::Ours;
use page::Page;

/// Prints the sequences that the arguments ask for.
///
/// # Errors
/// [`Failure::Usage`] for a sequence that cannot be emitted, with the nearest that can;
/// [`Failure::Failed`] where there is no heap to take headers from; [`Failure::NobodyReads`].
pub fn asm(arguments: &AsmArguments) -> Result<(), Failure> {
    let question = Question::of(arguments, Processor::detect())?;
    let ours = Ours::emit(&question).map_err(|error| refused(&question, &error))?;
    let mut profile = None;
    if let Some(time) = arguments.profile {
        let eden = profile::eden(&question, arguments.eden)?;
        profile = Some(profile::run(&question, &ours, time, eden));
    }
    print(
        &Page {
            question: &question,
            ours: &ours,
            profile: profile.as_ref(),
            layout: arguments.layout,
            columns: width::of_output(),
            barriers: arguments.barriers,
        }
        .text()?,
    )
}
