//! The `allotment` command.
fn main() {}
