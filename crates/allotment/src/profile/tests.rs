//! What a profile's file refers to.

use super::pprof::SLOW_PATH;

/// Code that names the functions of the slow path.
const SOURCES: [&str; 5] = [
    include_str!("../api/alloc.rs"),
    include_str!("../mutator/alloc/burst.rs"),
    include_str!("../mutator/alloc/fast.rs"),
    include_str!("../mutator/alloc/refill.rs"),
    include_str!("../mutator/alloc/room.rs"),
];

#[test]
fn the_functions_that_tools_leave_out_are_there() {
    let names = SLOW_PATH.trim_start_matches("(.*::)?(").trim_end_matches(')');
    assert!(names.split('|').count() > 5);
    for name in names.split('|') {
        let is_there = |end| SOURCES.iter().any(|source| source.contains(&format!("fn {name}{end}")));
        assert!(is_there("(") || is_there("<"), "{name}");
    }
}
