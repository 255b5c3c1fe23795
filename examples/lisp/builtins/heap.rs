//! The heap's view of itself, for a program that searches for its leak.

use super::kinds::Builtin;
use crate::fault::Fault;
use crate::value::Val;
use allotment::stats::SnapshotSettings;

/// Bytes of each string that a snapshot shows.
const STRING_BYTES: usize = 40;

pub const ALL: &[Builtin] = &[
    // A full collection.
    Builtin::make("heap-collect", 0, 0, |mu, _, _| {
        mu.collect();
        Ok(Val::Unspecified)
    }),
    // Objects and bytes by kind, as a table.
    Builtin::make("heap-census", 0, 0, |mu, lisp, _| {
        let census = mu.census(false).map_err(|error| Fault::new(error.to_string()))?;
        lisp.print(mu, &census.to_string())?;
        Ok(Val::Unspecified)
    }),
    // All live objects, as a file.
    Builtin::make("heap-snapshot", 1, 1, |mu, lisp, args| {
        let path = args.text(mu, lisp, 0)?.to_string();
        let settings = SnapshotSettings::default().string_bytes(STRING_BYTES);
        mu.snapshot_to_file(path, &settings).map_err(|error| Fault::new(error.to_string()))?;
        Ok(Val::Unspecified)
    }),
];
