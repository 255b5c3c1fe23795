// Prints each node as Chrome's DevTools load it, and its edges: see `expected` in v8.rs. esbuild
// makes a program of this and of the loader.
import * as HeapSnapshot from 'chrome-devtools-frontend/front_end/entrypoints/heap_snapshot_worker/HeapSnapshot.ts';
import * as Loader from 'chrome-devtools-frontend/front_end/entrypoints/heap_snapshot_worker/HeapSnapshotLoader.ts';
import * as fs from 'node:fs';
import { MessageChannel } from 'node:worker_threads';

const [, , file, output, piece] = process.argv;

// Node has this from version 22 on.
(Promise as any).withResolvers ??= () => {
  const all: any = {};
  all.promise = new Promise((resolve, reject) => Object.assign(all, { resolve, reject }));
  return all;
};

async function main() {
  const loader = new Loader.HeapSnapshotLoader({ sendEvent() {} } as any);
  // Chrome hands the file over in pieces. Any border must do.
  const text = fs.readFileSync(file, 'utf8');
  for (let at = 0; at < text.length; at += Number(piece)) loader.write(text.slice(at, at + Number(piece)));
  loader.close();
  await loader.parsingComplete;
  const channel = new MessageChannel();
  new HeapSnapshot.SecondaryInitManager(channel.port2 as any);
  const snapshot: any = await loader.buildSnapshot(channel.port1 as any);
  const node = snapshot.rootNode();
  const lines = [];
  for (let number = 0; number < snapshot.nodeCount; number++) {
    node.nodeIndex = number * snapshot.nodeFieldCount;
    const edges = [];
    for (const all = node.edges(); all.hasNext(); all.next()) {
      const edge = all.item();
      edges.push([edge.type(), edge.name(), edge.nodeIndex() / snapshot.nodeFieldCount]);
    }
    const numbers = [node.selfSize(), node.retainedSize()];
    lines.push(JSON.stringify([node.id(), node.type(), node.rawName(), ...numbers, edges]));
  }
  fs.writeFileSync(output, lines.join('\n'));
}

// What the loader logs are its complaints.
console.warn = (...complaint) => {
  console.error(...complaint);
  process.exit(1);
};
main().then(
  () => process.exit(0),
  (error) => console.warn(error),
);
