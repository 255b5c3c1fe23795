//! One question and its answer, which the user may interrupt.
//!
//! An answer may take long: a profile takes the seconds that were asked for, another caller may be
//! served first, and a stop of the world waits for the program's threads. So there is no limit on
//! the time. The end of the process ends the wait, even if a child of it has a copy of the
//! connection.

use super::processes::{ListeningHeap, is_there};
use allotment::internals::attach::{Answer, AnswerError, Question};
use allotment_report::command::Failure;
use allotment_report::command::Interrupt;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use std::fs::File;
use std::io::{self, IoSlice, Read};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// How often the wait for an answer looks whether it is in vain.
const LOOK: Duration = Duration::from_millis(100);

/// Asks, and returns the answer. `file` goes along.
pub(super) fn hold(
    heap: ListeningHeap,
    question: &Question,
    file: Option<&File>,
    interrupt: &Interrupt,
) -> Result<String, Failure> {
    let ListeningHeap { process, socket, .. } = heap;
    let failed = |why: String| Failure::Failed(format!("process {process}: {why}"));
    let answer = send(&socket, question, file)
        .map_err(AnswerError::Read)
        .and_then(|()| Answer::read(&mut AnswerReader { process, socket, interrupt }));
    if interrupt.requested() {
        return Err(Failure::Interrupted);
    }
    match answer {
        Ok(Answer::Done(text)) => Ok(text),
        Ok(Answer::Failed(why)) => Err(failed(why)),
        Err(error) => Err(failed(error.to_string())),
    }
}

/// Sends the line, which is shorter than the buffer of any socket, in one piece with the file.
fn send(socket: &UnixStream, question: &Question, file: Option<&File>) -> io::Result<()> {
    socket.set_read_timeout(Some(LOOK))?;
    let line = question.encode();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let file = file.map(|file| [file.as_fd()]);
    if let Some(file) = &file {
        control.push(SendAncillaryMessage::ScmRights(file));
    }
    match sendmsg(socket, &[IoSlice::new(line.as_bytes())], &mut control, SendFlags::NOSIGNAL) {
        // The listener has hung up. Its answer, if there is one, says why.
        Err(rustix::io::Errno::PIPE | rustix::io::Errno::CONNRESET) => Ok(()),
        sent => sent.map(drop).map_err(io::Error::from),
    }
}

/// A connection whose reader gives up if the user does, or if the process is gone.
struct AnswerReader<'i> {
    process: u32,
    socket: UnixStream,
    interrupt: &'i Interrupt,
}

impl Read for AnswerReader<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            // Looked at before the read: a process that answered and ended has answered.
            let is_there = is_there(self.process);
            match self.socket.read(bytes) {
                Err(error)
                    if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
                read => return read,
            }
            if self.interrupt.requested() {
                return Err(io::Error::other("interrupted"));
            }
            if !is_there {
                return Ok(0);
            }
        }
    }
}
