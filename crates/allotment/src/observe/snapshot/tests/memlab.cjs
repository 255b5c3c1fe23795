// Prints each node as memlab loads it: id, type, name, own bytes, retained bytes, edges.
const { getFullHeapFromFile } = require('@memlab/heap-analysis');

getFullHeapFromFile(process.argv[2])
  .then((heap) => {
    const lines = [];
    heap.nodes.forEach((node) => {
      const fields = [node.id, node.type, node.name, node.self_size, node.retainedSize, node.edge_count];
      lines.push(fields.join('\t'));
    });
    require('fs').writeFileSync(process.argv[3], lines.join('\n'));
  })
  .catch((error) => {
    console.error(error);
    process.exit(1);
  });
