// Prints each node as VS Code loads it, and the nodes that its edges lead to: see `of_vs_code` in
// v8.rs. The graph has no list of nodes, so they come class by class.
const { decode_bytes } = require('@vscode/v8-heap-parser');
const fs = require('fs');

const graph = decode_bytes(new Uint8Array(fs.readFileSync(process.argv[2])));
const nodes = [];
graph.get_class_groups(0, 0xffffffff, false).forEach((group, number) => {
  // More than there are takes for ever.
  for (const node of graph.class_children(number, 0, group.children_len, 0)) {
    const children = graph.node_children(node.index, 0, node.children_len, 0);
    const targets = children.map((child) => child.id - 1);
    nodes.push([node.id, node.name(), Number(node.self_size), targets.sort((a, b) => a - b)]);
  }
});
nodes.sort((a, b) => a[0] - b[0]);
fs.writeFileSync(process.argv[3], nodes.map((node) => JSON.stringify(node)).join('\n'));
