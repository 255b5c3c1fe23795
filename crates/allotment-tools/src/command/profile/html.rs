//! `allotment profile html`: a flame graph as one page, which needs no network and no server.
//!
//! The page has all sample types of the profile, and shapes under the functions that allocate them.
//! Its script draws what is wide enough to be seen, so large profiles stay quick.
//!
//! Refused: `inferno`, whose licence (CDDL) is not among those of this project, and
//! `d3-flame-graph`, which brings a library of 100 kB for rectangles.

use super::failed;
use crate::pprof::Tree;
use allotment_report::command::Failure;
use allotment_report::command::rows::named;
use allotment_report::format::phrase::count;
use allotment_report::format::{OutputFile, check_printed_files, open_binary};
use allotment_report::page::page;
use askama::Template;
use serde_json::{Value, json};
use std::io::Read;
use std::path::PathBuf;

/// A frame with a smaller share of all sample types is left out: less than a pixel of a wide screen,
/// until somebody zooms in 20 times.
const SMALLEST: f64 = 1.0 / 50_000.0;

/// A profile, and its flame graph.
#[derive(Clone, Debug, clap::Args)]
pub struct HtmlArguments {
    /// The profile, packed by gzip or not; `-` is standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Write the page to this file; `-` is standard output.
    #[arg(long, short = 'o', value_name = "FILE")]
    pub output: PathBuf,

    /// Show the values of this sample type first, such as alloc_space [default: that of the file].
    #[arg(long, value_name = "NAME")]
    pub sample_type: Option<String>,

    /// The page's title [default: the name of the profile].
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
}

#[derive(Template)]
#[template(path = "flame.html")]
struct Body<'a> {
    title: &'a str,
    script: &'static str,
    data: String,
    comments: &'a [String],
    /// How many frames are left out; empty if none are.
    left_out: String,
}

/// Writes the page.
pub(super) fn html(arguments: &HtmlArguments) -> Result<String, Failure> {
    let HtmlArguments { file, output, sample_type, title } = arguments;
    check_printed_files(std::slice::from_ref(file), &[("--output", output)])?;
    let opened = OutputFile::open(output)?;
    let input = open_binary(file).map_err(failed)?;
    let tree = Tree::read(input, sample_type.as_deref(), SMALLEST).map_err(|error| named(file, &error))?;
    let name = || match file.as_os_str().to_str() {
        Some("-") => "profile".to_owned(),
        _ => file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned(),
    };
    let page = flame_graph(&tree, &title.clone().unwrap_or_else(name)).map_err(Failure::Failed)?;
    opened.write(page.as_bytes())?;
    Ok(String::new())
}

/// The page of a profile; for a test with arbitrary bytes.
///
/// # Errors
/// Why there is none.
pub(super) fn tell(profile: impl Read) -> Result<String, String> {
    flame_graph(&Tree::read(profile, None, SMALLEST).map_err(|error| error.to_string())?, "profile")
}

fn flame_graph(tree: &Tree, title: &str) -> Result<String, String> {
    let left_out = if tree.left_out == 0 { String::new() } else { count(tree.left_out, "frame") };
    let body = Body {
        title,
        script: include_str!("../../../templates/flame.js"),
        data: data(tree),
        comments: &tree.comments,
        left_out,
    };
    let body = body.render().map_err(|error| error.to_string())?;
    page(title, include_str!("../../../templates/flame.css"), &body).map_err(|error| error.to_string())
}

/// The data that the script draws: names, and for each node the index of its name, that of its
/// parent, 1 for a shape, and its values. It has no character that ends a script or begins a
/// comment of HTML.
fn data(tree: &Tree) -> String {
    let types: Vec<Value> =
        tree.sample_types.iter().map(|one| json!({ "name": one.name, "unit": one.unit })).collect();
    let nodes: Vec<Vec<u64>> = tree
        .nodes
        .iter()
        .map(|node| {
            let first = [u64::from(node.name), u64::from(node.parent), u64::from(node.is_shape)];
            let values = node.values.iter().map(|value| u64::try_from(*value).unwrap_or(u64::MAX));
            first.into_iter().chain(values).collect()
        })
        .collect();
    let whole = json!({ "types": types, "chosen": tree.chosen, "names": tree.names, "nodes": nodes });
    whole.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}
