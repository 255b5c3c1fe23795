package allotment;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.BenchmarkParams;

/**
 * Long lists of nodes of 32 bytes: the counterpart of {@code lists.queue} and {@code lists.forced}. Nodes, keys, values and the
 * order in which they are made are those of our program. All lists are walked after each iteration.
 *
 * <p>Differences: values have 4 bytes and ours 8, references 4 or 8 and ours 8, headers 12 or 8 and ours 8. The rest of the 32
 * bytes is zeroed and unused.
 */
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class Lists {
    /** Steps between two checks of the harness. */
    private static final int STEPS = 256;

    /** The default of {@link Forced#nodes}: {@code -opi} has to be the same. */
    private static final int NODES = 1_000_000;

    /**
     * A node. Its key is one larger than that of the node before it in the list. Refused: one class for these nodes and those of
     * {@link Trees}. A collector would look at a second reference in each node.
     */
    private static class Node {
        Node next;
        final long key;
        final int value;

        Node(Node next, long key, int value) {
            this.next = next;
            this.key = key;
            this.value = value;
        }
    }

    /** A node for references of 4 bytes, as large as one for 8. */
    private static final class Padded extends Node {
        int rest;

        Padded(Node next, long key, int value) {
            super(next, key, value);
        }
    }

    private static final boolean IS_PADDED = Layout.hasNarrowReferences();

    private static Node node(Node next, long key, int value) {
        return IS_PADDED ? new Padded(next, key, value) : new Node(next, key, value);
    }

    private static void demandSize() {
        Layout.demand(Node.class, Padded.class, 32);
    }

    private static int value(long key) {
        return (int) key ^ 0x5555;
    }

    /** The number of nodes from {@code first} on; -1 unless keys rise by one and each value matches its key. */
    private static long count(Node first) {
        long found = 0;
        for (Node at = first; at != null; at = at.next) {
            found++;
            if (at.value != value(at.key) || (at.next != null && at.next.key != at.key + 1)) {
                return -1;
            }
        }
        return found;
    }

    /** A thread's list of constant length, which grows at one end and dies at the other. */
    @State(Scope.Thread)
    public static class Queue {
        /** Live nodes, of all threads. */
        @Param({"1000000", "16000000"})
        public String nodes;

        private Node head;
        private Node tail;
        private long length;
        private long nextKey;

        @Setup
        public void fill(BenchmarkParams params) {
            demandSize();
            length = Size.of(nodes) / params.getThreads();
            if (length < 1) {
                throw new IllegalArgumentException(nodes + " nodes for " + params.getThreads() + " threads: each has a list");
            }
            head = node(null, 0, value(0));
            tail = head;
            nextKey = 1;
            while (nextKey < length) {
                append();
            }
        }

        @TearDown(Level.Iteration)
        public void check() {
            long found = count(head);
            if (found != length) {
                throw new IllegalStateException("the queue has " + length + " nodes, and is found broken or with " + found);
            }
        }

        /** Stores a new node into the last node. */
        private void append() {
            Node node = node(null, nextKey, value(nextKey));
            tail.next = node;
            tail = node;
            nextKey++;
        }

        /** Forgets the first node, which still refers to the second. */
        private void dropFirst() {
            head = head.next;
        }
    }

    /** Appends a node and drops the first; collections come by themselves. An operation is one step. */
    @Benchmark
    @BenchmarkMode(Mode.AverageTime)
    @OperationsPerInvocation(STEPS)
    public void queue(Queue queue) {
        for (int step = 0; step < STEPS; step++) {
            queue.append();
            queue.dropFirst();
        }
    }

    /** Lists that are made anew before each shot, with garbage between their nodes. Nodes of all lists are made in turn. */
    @State(Scope.Benchmark)
    public static class Forced {
        /** Live nodes, of all lists. */
        @Param("" + NODES)
        public String nodes;

        /** Lists that the nodes are divided among. */
        @Param({"1", "64"})
        public int lists;

        /** Dead nodes beside each live one. */
        @Param("1")
        public int garbage;

        private Node[] ends;
        private long count;
        private long collections;
        private Node dropped;

        @Setup
        public void look(BenchmarkParams params) {
            demandSize();
            count = Size.of(nodes);
            if (lists < 1 || count < lists) {
                throw new IllegalArgumentException(nodes + " nodes in " + lists + " lists: every list has a node");
            }
            if (params.getThreads() != 1) {
                throw new IllegalArgumentException(params.getThreads() + " threads: one thread at a time forces a collection");
            }
            if (params.getOpsPerInvocation() != count) {
                throw new IllegalArgumentException("the score is by the live node: with " + nodes + " nodes -opi has to be "
                        + count + ", and it is " + params.getOpsPerInvocation());
            }
            ends = new Node[lists];
        }

        /** Makes new lists in an empty heap. A list grows at its front, so keys fall. */
        @Setup(Level.Iteration)
        public void renew() {
            Arrays.fill(ends, null);
            System.gc();
            for (long made = 0; made < count; made++) {
                for (int dead = 0; dead < garbage; dead++) {
                    // Stored into a field that other threads could read; otherwise the compiler would leave it out.
                    dropped = node(null, 0, 0);
                }
                int list = (int) (made % lists);
                long key = -1 - made / lists;
                ends[list] = node(ends[list], key, value(key));
            }
            dropped = null;
            collections = Collections.count();
        }

        @TearDown(Level.Iteration)
        public void check() {
            if (Collections.count() == collections) {
                throw new IllegalStateException("the machine was asked for a collection, and made none: run it"
                        + " without -XX:+DisableExplicitGC, and with another collector than Epsilon");
            }
            long found = 0;
            for (Node end : ends) {
                long counted = count(end);
                found = found < 0 || counted < 0 ? -1 : found + counted;
            }
            if (found != count) {
                throw new IllegalStateException("the lists had " + count + " nodes, and are found broken or with " + found);
            }
        }
    }

    /** A full collection of the lists; an operation is a live node. */
    @Benchmark
    @BenchmarkMode(Mode.SingleShotTime)
    @OperationsPerInvocation(NODES)
    public void forced(Forced forced) {
        System.gc();
    }
}
