//! How the commands of allotment show answers: the common part of the tools, the models and the
//! lab.
//!
//! The modules, lowest first; a module may use only modules before it:
//!
//! | module | content |
//! |---|---|
//! | [`random`] | numbers that are the same in every run |
//! | [`statistics`] | mean, error, percentiles, ratios |
//! | [`format`](mod@format) | numbers, phrases and tables as text; files in and out |
//! | [`chart`] | charts as data, drawn as SVG |
//! | [`page`] | a page as data, written as HTML or Markdown |
//! | [`command`] | the ends of a command, and what each prints |
//!
//! The crate is below the three that use it, so the tools do not wait for the build of the lab.
//! Refused: these modules within the tools. The models would then depend on readers of heap dumps.

pub mod chart;
pub mod command;
pub mod format;
pub mod page;
pub mod random;
pub mod statistics;
