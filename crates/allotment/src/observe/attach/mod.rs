//! `StartAttachListener`: the answers of a heap to other processes, which ask with `allotment ask`.
//!
//! ```text
//! allotment ask 4711 census          thread allotment-attach of process 4711
//!   |  connects to .../4711-heap        |  is it the same user, or root?
//!   |  "allotment/1 census\n"  -------> |  a line, within three seconds
//!   |  (and a file, where one is due)   |  looks: reads numbers, or stops the world
//!   |  <------- "allotment/1 ok 523\n"  |  the world goes on
//!   |           and 523 bytes           |  the answer is sent
//! ```
//!
//! **Files.** A snapshot is as large as the heap, and is written while the world stands still. So
//! it goes to a file that the caller has opened, and whose descriptor it sends along. The caller
//! makes the file by its own rules, with its own rights and in its own file system, even if the
//! program runs in a container. Only regular files are taken: a pipe would let its reader hold the
//! stopped world for ever. Refused: a path, as `jcmd` sends it. The program would write the file
//! with its rights, in its folder and its container. Refused: the snapshot in memory, sent after
//! the stop. It needs as much memory as the heap when memory is what is short. Refused: the
//! snapshot through the socket, for the reason that refuses a pipe.
//!
//! **Callers** are served one at a time. One that sends no whole line in time, sends another thing,
//! or does not read its answer is cut off. No world is stopped and no lock is held while the thread
//! waits for a caller.
//!
//! Refused: signals, as HotSpot begins its attach mechanism. They are the program's. Refused: a
//! port. Any user of the machine reaches it, and it would need keys.
//!
//! | file | has |
//! |---|---|
//! | `listener.rs` | the thread, its start and its end |
//! | `protocol.rs` | the line, the answer, both sides of each |
//! | `answers.rs` | what is done for each question |
//! | `text.rs` | numbers as tables |
//! | `window.rs` | the profile of the next seconds |
//!
//! The socket and its folder are in `platform`.

mod answers;
mod listener;
mod protocol;
#[cfg(all(test, not(loom)))]
mod tests;
mod text;
mod window;

pub(super) use listener::AttachListener;
pub use protocol::{Answer, AnswerError, Question};

use crate::heap::WeakHeap;
use crate::platform::{Connection, LocalListener, NoLine};
use allotment_output::OutputFile;
use protocol::LINE_BYTES;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// How long a caller is waited for.
#[derive(Clone, Copy, Debug)]
pub(in crate::observe) struct Patience {
    /// Time for a caller to send its line.
    line: Duration,
    /// Time for a caller to read its answer.
    answer: Duration,
}

impl Patience {
    pub(in crate::observe) const DEFAULT: Patience =
        Patience { line: Duration::from_secs(3), answer: Duration::from_secs(30) };
}

/// Serves one caller after the other, until the heap ends.
fn serve(socket: &LocalListener, heap: &WeakHeap, patience: Patience) {
    while let Some(caller) = socket.next() {
        // A panic in the stopped world ends the process. So a hook of the embedder panicked, in a
        // collection that was asked for, and standard error has its message.
        let answer = catch_unwind(AssertUnwindSafe(|| answer(&caller, heap, patience.line)));
        let panicked = || Some(Answer::Failed("a hook of the program panicked".into()));
        if let Some(answer) = answer.unwrap_or_else(|_| panicked()) {
            caller.send(&answer.encode(), patience.answer);
        }
    }
}

/// The answer to a caller who has `wait` for its line; `None` if it has hung up.
fn answer(caller: &Connection<'_>, heap: &WeakHeap, wait: Duration) -> Option<Answer> {
    let (line, file) = match caller.line(LINE_BYTES, wait) {
        Ok(received) => received,
        Err(NoLine::HungUp) => return None,
        Err(why) => return Some(Answer::Failed(why.to_string())),
    };
    let outcome = match Question::parse(&line) {
        Ok(question) => answers::answer(&heap.upgrade()?, &question, file.map(OutputFile::stream), caller),
        Err(why) => Err(why),
    };
    Some(outcome.map_or_else(Answer::Failed, Answer::Done))
}
