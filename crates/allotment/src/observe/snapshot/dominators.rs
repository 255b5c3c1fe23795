//! Dominators of a graph, and what objects retain.
//!
//! Node `d` dominates `n` if each way from the root to `n` leads over `d`. So an object retains
//! what it dominates: that dies with it. The algorithm is that of Lengauer and Tarjan ("A fast
//! algorithm for finding dominators in a flowgraph", 1979), with simple compression of ways.
//! Refused: semi-NCA, which climbs from each node to its dominator, and the iteration of Cooper,
//! Harvey and Kennedy. Both take quadratic time on some graphs with long lists, and heaps have such
//! lists.
//!
//! All steps are loops, since a list may have as many nodes as the heap has objects.

use super::SnapshotError;
use super::index::{push, reserve, zeroes};

/// In lists of nodes: no node.
pub const NONE: u32 = u32::MAX;

/// A graph of objects. Node 0 is the root, and stands for all roots.
///
/// ```text
/// first.len() = nodes + 1, first[0] = 0, first[nodes] = targets.len()
/// targets of node n = targets[first[n]..first[n + 1]], each below the number of nodes
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// By node: where its targets begin.
    pub first: Vec<usize>,
    /// The nodes that strong references lead to.
    pub targets: Vec<u32>,
    /// By node: bytes of its own.
    pub bytes: Vec<u64>,
    /// By node: the number of its class, which is a shape.
    pub class: Vec<u32>,
}

/// The dominator tree of a graph, and the bytes that each node retains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dominators {
    /// By node: the next node above that dominates it. The root's is the root; [`NONE`] for nodes
    /// that no way leads to.
    pub parent: Vec<u32>,
    /// By node: bytes of all that it dominates, its own included.
    pub retained: Vec<u64>,
}

impl Graph {
    /// Number of nodes, the root included.
    pub fn nodes(&self) -> usize {
        self.first.len() - 1
    }

    fn targets_of(&self, node: u32) -> &[u32] {
        &self.targets[self.first[node as usize]..self.first[node as usize + 1]]
    }

    /// Numbers the nodes in the order of a walk in depth.
    fn walk(&self) -> Result<Walk, SnapshotError> {
        let mut number = zeroes::<u32>(self.nodes())?;
        number.fill(NONE);
        let (mut nodes, mut parents) = (Vec::new(), Vec::new());
        reserve(&mut nodes, self.nodes())?;
        reserve(&mut parents, self.nodes())?;
        // For each node on the way: the next of its targets.
        let mut way: Vec<(u32, usize)> = Vec::new();
        number[0] = 0;
        nodes.push(0);
        parents.push(0);
        way.push((0, 0));
        while let Some((node, next)) = way.last_mut() {
            let Some(target) = self.targets_of(*node).get(*next) else {
                way.pop();
                continue;
            };
            *next += 1;
            if number[*target as usize] == NONE {
                number[*target as usize] = nodes.len() as u32;
                parents.push(number[*node as usize]);
                nodes.push(*target);
                push(&mut way, (*target, 0))?;
            }
        }
        Ok(Walk { number, nodes, parents })
    }

    /// The dominators. Needs 24 bytes for each node and 4 for each reference, while it runs up to
    /// three times as much.
    ///
    /// # Errors
    /// [`SnapshotError::NoMemory`].
    pub fn dominators(&self) -> Result<Dominators, SnapshotError> {
        let Walk { number, nodes, parents } = self.walk()?;
        // The references that lead to each node, all by number of the walk.
        let sources = Lists::of(nodes.len(), || {
            let (number, numbered) = (&number, (0..).zip(&nodes));
            numbered.flat_map(move |(source, node)| {
                self.targets_of(*node).iter().map(move |target| (number[*target as usize], source))
            })
        })?;
        let above = lengauer_tarjan(parents, &sources)?;
        // From numbers of the walk to nodes.
        let mut parent = zeroes::<u32>(self.nodes())?;
        parent.fill(NONE);
        let mut retained = zeroes::<u64>(self.nodes())?;
        retained.copy_from_slice(&self.bytes);
        for (at, node) in nodes.iter().enumerate() {
            parent[*node as usize] = nodes[above[at] as usize];
        }
        // A dominator has a lower number than what it dominates.
        for at in (1..nodes.len()).rev() {
            let bytes = retained[nodes[at] as usize];
            let sum = &mut retained[nodes[above[at] as usize] as usize];
            // Of a file, sizes may be any numbers.
            *sum = sum.saturating_add(bytes);
        }
        Ok(Dominators { parent, retained })
    }
}

/// A walk through a graph in depth, from the root.
struct Walk {
    /// By node: its number in the walk; [`NONE`] if no way leads to it.
    number: Vec<u32>,
    /// By number: the node.
    nodes: Vec<u32>,
    /// By number: the number of the node from which the walk came.
    parents: Vec<u32>,
}

/// A list of nodes for each key.
struct Lists {
    /// By key: where its list begins. The end of the last list follows.
    first: Vec<usize>,
    nodes: Vec<u32>,
}

impl Lists {
    /// The lists of `pairs` of a key below `keys` and a node. Each call gives the same pairs.
    fn of<P: Iterator<Item = (u32, u32)>>(
        keys: usize,
        pairs: impl Fn() -> P,
    ) -> Result<Lists, SnapshotError> {
        let mut first = zeroes::<usize>(keys + 1)?;
        pairs().for_each(|(key, _)| first[key as usize + 1] += 1);
        for at in 0..keys {
            first[at + 1] += first[at];
        }
        let mut nodes = zeroes::<u32>(first[keys])?;
        // Each list is filled from its beginning, which moves up meanwhile, to the next one's.
        for (key, node) in pairs() {
            let place = &mut first[key as usize];
            nodes[*place] = node;
            *place += 1;
        }
        first.rotate_right(1);
        first[0] = 0;
        Ok(Lists { first, nodes })
    }

    fn get(&self, key: usize) -> &[u32] {
        &self.nodes[self.first[key]..self.first[key + 1]]
    }
}

/// The dominators of nodes numbered by a walk: `parents` by that walk, and sources of references.
///
/// A node is linked when the loop has passed it: then its ancestor counts in [`evaluate`].
fn lengauer_tarjan(parents: Vec<u32>, sources: &Lists) -> Result<Vec<u32>, SnapshotError> {
    let count = parents.len();
    let (mut semi, mut label) = (zeroes::<u32>(count)?, zeroes::<u32>(count)?);
    // The nodes whose semidominator is node n: the list that begins with waiting[n] and goes on
    // with above[...], until the dominators of its nodes are known and take these places.
    let (mut waiting, mut above) = (zeroes::<u32>(count)?, zeroes::<u32>(count)?);
    waiting.fill(NONE);
    let mut ancestor = parents;
    for at in 0..count {
        (semi[at], label[at]) = (at as u32, at as u32);
    }
    let mut way = Vec::new();
    for at in (0..count).rev() {
        let mut node = std::mem::replace(&mut waiting[at], NONE);
        while node != NONE {
            let best = evaluate(node, at as u32 + 1, &mut ancestor, &mut label, &semi, &mut way)?;
            // Either this node, or one with the same dominator, whose is found in the loop below.
            let dominator = if semi[best as usize] < at as u32 { best } else { at as u32 };
            node = std::mem::replace(&mut above[node as usize], dominator);
        }
        if at == 0 {
            break;
        }
        let mut least = ancestor[at];
        for source in sources.get(at) {
            let best = evaluate(*source, at as u32 + 1, &mut ancestor, &mut label, &semi, &mut way)?;
            least = least.min(semi[best as usize]);
        }
        semi[at] = least;
        above[at] = std::mem::replace(&mut waiting[least as usize], at as u32);
    }
    for at in 1..count {
        if above[at] != semi[at] {
            above[at] = above[above[at] as usize];
        }
    }
    Ok(above)
}

/// The node with the least semidominator on the way up from `node` through nodes from `linked` on,
/// or `node` itself. Shortens that way.
fn evaluate(
    node: u32,
    linked: u32,
    ancestor: &mut [u32],
    label: &mut [u32],
    semi: &[u32],
    way: &mut Vec<u32>,
) -> Result<u32, SnapshotError> {
    if ancestor[node as usize] < linked {
        return Ok(label[node as usize]);
    }
    let mut at = node;
    while ancestor[at as usize] >= linked {
        push(way, at)?;
        at = ancestor[at as usize];
    }
    let top = ancestor[at as usize];
    let mut best = label[at as usize];
    while let Some(below) = way.pop() {
        let below = below as usize;
        ancestor[below] = top;
        if semi[best as usize] < semi[label[below] as usize] {
            label[below] = best;
        } else {
            best = label[below];
        }
    }
    Ok(label[node as usize])
}

impl Dominators {
    /// By class: the bytes that objects of the class retain together. An object whose dominators
    /// have one of the same class counts with that one.
    ///
    /// # Errors
    /// [`SnapshotError::NoMemory`].
    pub fn retained_by_class(&self, class: &[u32], classes: usize) -> Result<Vec<u64>, SnapshotError> {
        let nodes = self.parent.len();
        let dominated = || (1..nodes).filter(|node| self.parent[*node] != NONE);
        let below = Lists::of(nodes, || dominated().map(|node| (self.parent[node], node as u32)))?;
        let (mut sums, mut above) = (zeroes::<u64>(classes)?, zeroes::<u32>(classes)?);
        let mut way: Vec<(u32, usize)> = vec![(0, 0)];
        while let Some((node, next)) = way.last_mut() {
            let at = *node as usize;
            if let Some(child) = below.get(at).get(*next) {
                *next += 1;
                let class = class[*child as usize] as usize;
                if above[class] == 0 {
                    sums[class] = sums[class].saturating_add(self.retained[*child as usize]);
                }
                above[class] += 1;
                push(&mut way, (*child, 0))?;
                continue;
            }
            if at != 0 {
                above[class[at] as usize] -= 1;
            }
            way.pop();
        }
        Ok(sums)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn graph(edges: &[Vec<u32>], class: Vec<u32>) -> Graph {
        let mut graph = Graph { first: vec![0], class, ..Graph::default() };
        for (node, targets) in edges.iter().enumerate() {
            graph.targets.extend(targets);
            graph.first.push(graph.targets.len());
            graph.bytes.push(if node == 0 { 0 } else { 1 << (node % 40) });
        }
        graph
    }

    /// The nodes that are reached without passing through `without`.
    fn reached(graph: &Graph, without: Option<u32>) -> Vec<bool> {
        let mut seen = vec![false; graph.nodes()];
        let mut work = vec![0];
        while let Some(node) = work.pop() {
            if Some(node) != without && !std::mem::replace(&mut seen[node as usize], true) {
                work.extend(graph.targets_of(node));
            }
        }
        seen
    }

    /// Whether `d` dominates `n`: taking `d` away cuts `n` off.
    fn dominates(graph: &Graph) -> Vec<Vec<bool>> {
        let all = reached(graph, None);
        (0..graph.nodes())
            .map(|node| {
                let rest = reached(graph, Some(node as u32));
                (0..graph.nodes()).map(|other| all[other] && !rest[other]).collect()
            })
            .collect()
    }

    #[test]
    fn a_list_of_a_million_nodes_needs_no_stack() {
        let nodes = 1_000_000;
        // Each node leads to the next, and back to the first.
        let edges: Vec<Vec<u32>> =
            (0..nodes).map(|node| if node + 1 < nodes { vec![node + 1, 1] } else { vec![] }).collect();
        let graph = graph(&edges, vec![0; nodes as usize]);
        let dominators = graph.dominators().unwrap();
        assert!((1..nodes).all(|node| dominators.parent[node as usize] == node - 1));
        let total = graph.bytes.iter().sum::<u64>();
        assert_eq!((dominators.retained[0], dominators.retained[1]), (total, total));
        assert_eq!(dominators.retained_by_class(&graph.class, 1).unwrap(), [total]);
    }

    /// A list to A, and B beside it: both lead to the same nodes, which only the root dominates. An
    /// algorithm that climbs from each of these nodes over the list never ends here.
    #[test]
    fn a_long_list_beside_many_nodes_takes_no_quadratic_time() {
        let length: u32 = if cfg!(miri) { 100 } else { 200_000 };
        let (a, b, leaves) = (length + 1, length + 2, length + 3);
        let mut edges = vec![vec![1, b]];
        edges.extend((1..=length).map(|node| vec![node + 1]));
        edges.extend(vec![(leaves..leaves + length).collect(); 2]);
        edges.extend(vec![vec![]; length as usize]);
        let nodes = edges.len();
        let graph = graph(&edges, vec![0; nodes]);
        let dominators = graph.dominators().unwrap();
        assert_eq!(dominators.parent[a as usize], length);
        assert!(dominators.parent[b as usize..].iter().all(|parent| *parent == 0));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 400 }))]
        #[test]
        fn dominators_are_what_cuts_nodes_off(
            edges in prop::collection::vec(prop::collection::vec(0u32..40, 0..4), 1..40),
            classes in prop::collection::vec(0u32..3, 40),
        ) {
            let nodes = edges.len() as u32;
            let edges: Vec<Vec<u32>> =
                edges.iter().map(|targets| targets.iter().map(|target| target % nodes).collect()).collect();
            let graph = graph(&edges, classes[..edges.len()].to_vec());
            let dominators = graph.dominators().unwrap();
            let dominates = dominates(&graph);
            let all = reached(&graph, None);
            let nodes = 0..graph.nodes();
            for node in nodes.clone().skip(1) {
                if !all[node] {
                    prop_assert_eq!(dominators.parent[node], NONE);
                    continue;
                }
                // The nearest of those that dominate the node is dominated by the others.
                let above = || nodes.clone().filter(|other| *other != node && dominates[*other][node]);
                let nearest = above().find(|near| above().all(|other| dominates[other][*near])).unwrap();
                prop_assert_eq!(dominators.parent[node] as usize, nearest);
                let bytes: u64 = nodes.clone().filter(|other| dominates[node][*other]).map(|other| graph.bytes[other]).sum();
                prop_assert_eq!(dominators.retained[node], bytes);
            }
            let sums = dominators.retained_by_class(&graph.class, 3).unwrap();
            for class in 0..3 {
                let of_class = |node: &usize| *node != 0 && all[*node] && graph.class[*node] == class;
                let topmost = nodes.clone().filter(of_class).filter(|node| {
                    !nodes.clone().filter(of_class).any(|other| other != *node && dominates[other][*node])
                });
                let expected: u64 = topmost.map(|node| dominators.retained[node]).sum();
                prop_assert_eq!(sums[class as usize], expected);
            }
        }
    }
}
