// Prints each node as memlab loads it, and its edges: see `expected` in v8.rs.
const { getFullHeapFromFile } = require('@memlab/heap-analysis');

getFullHeapFromFile(process.argv[2])
  .then((heap) => {
    const lines = [];
    heap.nodes.forEach((node) => {
      const edges = node.references.map((edge) => [edge.type, String(edge.name_or_index), edge.toNode.id - 1]);
      lines.push(JSON.stringify([node.id, node.type, node.name, node.self_size, node.retainedSize, edges]));
    });
    require('fs').writeFileSync(process.argv[3], lines.join('\n'));
  })
  .catch((error) => {
    console.error(error);
    process.exit(1);
  });
