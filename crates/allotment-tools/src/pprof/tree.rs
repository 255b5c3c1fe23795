//! The stacks of a profile as a tree: what a flame graph draws.
//!
//! A node is a function called by another, or at last the shape of the objects. It has the sums of
//! all samples whose stacks go through it, for each sample type. Nodes that are too small to be seen
//! are left out, with all they call, so that a page of a large profile stays small.

use super::code::Code;
use super::file::ProfileFile;
use super::{MOST_TEXT_BYTES, SampleType, unpacked};
use crate::FileError;
use std::collections::HashMap;
use std::io::Read;

/// The most values of all nodes that are added up.
const MOST_VALUES: usize = if cfg!(test) { 1 << 13 } else { 1 << 25 };

/// A function on a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The index of its name.
    pub name: u32,
    /// The index of the node that called it, which comes before it; the root's is its own.
    pub parent: u32,
    /// Whether it is the shape of the objects, and no function.
    pub is_shape: bool,
    /// For each sample type the sum of the samples whose stacks go through it.
    pub values: Vec<i128>,
}

/// The stacks of a profile.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The sample types, in the order of the values.
    pub sample_types: Vec<SampleType>,
    /// The index of the one that is shown first.
    pub chosen: usize,
    /// The writer's comments.
    pub comments: Vec<String>,
    /// The names of nodes. The root's is the first, and empty.
    pub names: Vec<String>,
    /// The root, which is all samples, and what is in it.
    pub nodes: Vec<Node>,
    /// Nodes that were left out.
    pub left_out: usize,
}

/// The identity of a node among the children of its parent.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum NodeName {
    Root,
    /// A row of the code.
    Row(u32),
    /// The string of a shape.
    Shape(u64),
}

/// A tree that grows.
struct TreeBuilder {
    nodes: Vec<(NodeName, u32)>,
    values: Vec<i128>,
    types: usize,
    children: HashMap<(u32, NodeName), u32>,
}

impl TreeBuilder {
    fn child(&mut self, parent: u32, name: NodeName) -> Result<u32, FileError> {
        if let Some(child) = self.children.get(&(parent, name)) {
            return Ok(*child);
        }
        if self.values.len() + self.types > MOST_VALUES {
            return Err(FileError::Unfit(
                "its stacks are too many and too different for a flame graph; `allotment profile top` adds them up"
                    .into(),
            ));
        }
        let index = self.nodes.len() as u32;
        self.nodes.push((name, parent));
        self.values.extend(std::iter::repeat_n(0, self.types));
        self.children.insert((parent, name), index);
        Ok(index)
    }

    fn values(&self, node: usize) -> &[i128] {
        &self.values[node * self.types..][..self.types]
    }
}

impl Tree {
    /// Reads a profile that is not packed. `wanted` is the sample type that is shown first; `None`: the
    /// default. Nodes with less than `smallest` of each sample type's sum are left out.
    ///
    /// # Errors
    /// [`FileError`]; a profile with negative values, which a flame graph cannot show.
    pub fn read(file: impl Read, wanted: Option<&str>, smallest: f64) -> Result<Tree, FileError> {
        let bytes = unpacked(file)?;
        let file = ProfileFile::read(&bytes)?;
        let chosen = file.choose(wanted)?;
        let mut code = Code::of(&file)?;
        let types = file.sample_types.len();
        let mut tree = TreeBuilder {
            nodes: vec![(NodeName::Root, 0)],
            values: vec![0; types],
            types,
            children: HashMap::new(),
        };
        file.each_sample(|sample| {
            if sample.values.iter().any(|value| *value < 0) {
                return Err(FileError::Unfit(
                    "it has negative values, as differences have; `allotment profile top` shows them, a flame graph cannot"
                        .into(),
                ));
            }
            let (mut at, mut failed, mut innermost) = (0, None, None);
            code.each_frame(&sample.field, sample.stack, |row| {
                match tree.child(at, NodeName::Row(row)) {
                    Ok(child) => at = child,
                    Err(error) => failed = Some(error),
                }
                innermost = Some(row);
            })?;
            if let Some(error) = failed {
                return Err(error);
            }
            // Where there is no stack, the shape stands in for the function already.
            let stands_in = |shape| innermost.is_some_and(|row| code.is_function(row, shape, &file.strings));
            if let Some(shape) = sample.shape.filter(|shape| !stands_in(*shape)) {
                at = tree.child(at, NodeName::Shape(shape))?;
            }
            let values = &mut tree.values[at as usize * types..][..types];
            values.iter_mut().zip(sample.values).for_each(|(sum, value)| *sum += i128::from(*value));
            Ok(())
        })?;
        // Children follow their parents.
        for node in (1..tree.nodes.len()).rev() {
            let parent = tree.nodes[node].1 as usize;
            for index in 0..types {
                let value = tree.values[node * types + index];
                tree.values[parent * types + index] += value;
            }
        }
        let (names, nodes) = named(&tree, &code, &file, smallest);
        let left_out = tree.nodes.len() - nodes.len();
        Ok(Tree { sample_types: file.sample_types, chosen, comments: file.comments, names, nodes, left_out })
    }
}

/// The nodes that are large enough, and their names.
fn named(
    tree: &TreeBuilder,
    code: &Code<'_>,
    file: &ProfileFile<'_>,
    smallest: f64,
) -> (Vec<String>, Vec<Node>) {
    let (mut names, mut nodes) = (vec![String::new()], Vec::new());
    let mut numbers: HashMap<NodeName, u32> = HashMap::from([(NodeName::Root, 0)]);
    // The new index of each node; none for one that is left out.
    let mut kept: Vec<Option<u32>> = Vec::new();
    let least = tree.values(0).iter().map(|sum| *sum as f64 * smallest).collect::<Vec<f64>>();
    for (index, (name, parent)) in tree.nodes.iter().enumerate() {
        let values = tree.values(index);
        let is_large = values.iter().zip(&least).any(|(value, least)| *value > 0 && *value as f64 >= *least);
        let parent = if index == 0 { Some(0) } else { kept[*parent as usize].filter(|_| is_large) };
        kept.push(parent.map(|_| nodes.len() as u32));
        let Some(parent) = parent else { continue };
        let number = *numbers.entry(*name).or_insert_with(|| {
            names.push(match name {
                NodeName::Root => String::new(),
                NodeName::Row(row) => short(code.name(*row as usize, &file.strings)),
                NodeName::Shape(shape) => file.strings.cut(*shape),
            });
            names.len() as u32 - 1
        });
        let is_shape = matches!(name, NodeName::Shape(_));
        nodes.push(Node { name: number, parent, is_shape, values: values.to_vec() });
    }
    (names, nodes)
}

fn short(mut name: String) -> String {
    if name.len() > MOST_TEXT_BYTES {
        name.truncate(name.floor_char_boundary(MOST_TEXT_BYTES));
        name.push('…');
    }
    name
}
