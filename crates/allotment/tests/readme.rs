//! The README shows the code that the examples run.

#[test]
fn the_example_of_the_readme_is_the_one_that_runs_and_has_twenty_lines() {
    let readme = include_str!("../../../README.md");
    let section = readme.split_once("## Twenty lines\n").expect("its heading").1;
    let shown = section.split("```").nth(1).and_then(|block| block.strip_prefix("rust\n")).expect("a block");
    let run = include_str!("../examples/list.rs");
    let (_, run) = run.split_once("\n\n").expect("what it is, before the code");
    assert_eq!(shown, run);
    assert_eq!(shown.lines().count(), 20);
}
