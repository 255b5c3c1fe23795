//! Result files, the lab's and JMH's, as `report` and `compare` read them, and what is made of
//! them.
#![no_main]

use allotment_lab::experiments;
use allotment_lab::format::json::to_json;
use allotment_lab::format::{Entry, Input, Report, read_json, text_table};
use allotment_lab::report::{Source, changes, changes_json, document};
use allotment_report::chart::standalone;
use allotment_report::page::{html, markdown};
use libfuzzer_sys::fuzz_target;
use std::io::Cursor;

fuzz_target!(|bytes: &[u8]| {
    let text = Input::of("the file", Cursor::new(bytes.to_vec())).and_then(Input::text);
    let Ok(text) = text.map_err(|error| assert!(!error.to_string().is_empty())) else { return };
    match read_json(&text) {
        Ok(entries) => is_told(&entries),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});

fn is_told(entries: &[Entry]) {
    let source = Source { name: "the file".into(), entries: entries.to_vec() };
    let document = document(vec![source], experiments::all());
    html(&document, "a page").unwrap();
    markdown(&document, "a text");
    let groups = document.sections.iter().flat_map(|section| &section.groups);
    groups.flat_map(|group| &group.charts).for_each(|chart| assert!(!standalone(chart).is_empty()));
    changes_json(&changes(entries, entries)).unwrap();
    let report = Report {
        rows: entries.iter().map(|entry| entry.row.clone()).collect(),
        program: String::new(),
        version: String::new(),
        circumstances: Vec::new(),
        incomplete: None,
        warnings: Vec::new(),
    };
    text_table(&report, None, Some(60));
    // The lab reads each file that it writes.
    let written = String::from_utf8(to_json(&report).unwrap()).unwrap();
    assert_eq!(read_json(&written).unwrap().len(), entries.len());
}
