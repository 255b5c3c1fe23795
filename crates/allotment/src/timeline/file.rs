//! The file of a timeline: an array of events, a line each.

use super::event::{Event, Microseconds, Quoted, Row};
use allotment_output::OutputFile;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Duration;

/// A file that lacks its end.
pub(super) struct TraceFile {
    out: BufWriter<OutputFile>,
    process: u32,
    /// An event is there: a comma comes before the next.
    has_event: bool,
}

impl TraceFile {
    /// Makes the file, with the names of the heap and of the rows that do not belong to a thread.
    pub(super) fn create(path: &Path, heap: &str) -> io::Result<TraceFile> {
        let process = std::process::id();
        let mut file =
            TraceFile { out: BufWriter::new(OutputFile::create(path)?), process, has_event: false };
        let name = Quoted(heap);
        file.begin_event()?;
        write!(file.out, r#"{{"ph":"M","pid":{process},"name":"process_name","args":{{"name":{name}}}}}"#)?;
        for (order, (row, name)) in Row::OWN.into_iter().enumerate() {
            file.event(&Event::Name(row, name.to_owned()))?;
            file.begin_event()?;
            let row = row.number();
            write!(file.out, r#"{{"ph":"M","pid":{process},"tid":{row},"name":"thread_sort_index","#)?;
            write!(file.out, r#""args":{{"sort_index":{}}}}}"#, order as i64 - Row::OWN.len() as i64)?;
        }
        // A full disk is told now, and not after the first collection.
        file.out.flush()?;
        Ok(file)
    }

    fn begin_event(&mut self) -> io::Result<()> {
        self.out.write_all(if self.has_event { b",\n" } else { b"[\n" })?;
        self.has_event = true;
        Ok(())
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.begin_event()?;
        write!(self.out, "{}", event.json(self.process))
    }

    /// Adds events. `dropped` others were dropped until `now`, because there was no room.
    pub(super) fn write(&mut self, events: &[Event], dropped: u64, now: Duration) -> io::Result<()> {
        events.iter().try_for_each(|event| self.event(event))?;
        if dropped > 0 {
            self.begin_event()?;
            let (process, now) = (self.process, Microseconds(now));
            write!(self.out, r#"{{"ph":"i","s":"p","pid":{process},"ts":{now},"#)?;
            write!(self.out, r#""name":"events dropped: {dropped}"}}"#)?;
        }
        // So the file of a killed program is up to date.
        self.out.flush()
    }

    /// Ends the array, and moves the file to its place.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.out.write_all(b"\n]\n")?;
        self.out.flush()?;
        self.out.into_parts().0.finish()
    }
}
