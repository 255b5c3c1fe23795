package allotment;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.Blackhole;

/**
 * Binary trees that die while a larger tree lives: the counterpart of {@code trees.build}. A shot is the whole work of each
 * thread.
 *
 * <p>The objects of 32 bytes and their order are those of our program: from the top by stores into existing objects, from the
 * bottom by constructors. The same tree and array live on. Both are checked after each shot.
 *
 * <p>Differences: keys have 4 bytes and ours 8, references 4 or 8 and ours 8, headers 12 or 8 and ours 8. The rest of the 32
 * bytes is zeroed and unused. The compiler's maps of its frames are the roots. Our roots are linked frames.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.SECONDS)
public class Trees {
    /** Levels that the long-lived tree has more than the others. */
    private static final int LIVING_LEVELS = 2;

    /** Numbers in the long-lived array: 4 MiB. */
    private static final int NUMBERS = (4 << 20) / Double.BYTES;

    /** Levels below the top of each tree. */
    @Param("16")
    public int depth;

    /** Trees of each kind that a thread makes. */
    @Param("100")
    public int rounds;

    private Node living;
    private double[] numbers;

    @Setup
    public void makeWhatLives() {
        if (depth < 0 || depth > 30 || rounds < 1) {
            throw new IllegalArgumentException("depth " + depth + " and " + rounds
                    + " rounds: depths from 0 to 30 and at least 1 round work");
        }
        Layout.demand(Node.class, Padded.class, 32);
        living = topDown(depth + LIVING_LEVELS);
        numbers = new double[NUMBERS];
        for (int index = 0; index < NUMBERS; index++) {
            numbers[index] = number(index);
        }
    }

    @Benchmark
    public void build(Blackhole hole) {
        for (int round = 0; round < rounds; round++) {
            hole.consume(topDown(depth));
            hole.consume(bottomUp(depth));
        }
    }

    @TearDown(Level.Iteration)
    public void check() {
        long made = (1L << (depth + LIVING_LEVELS + 1)) - 1;
        long found = count(living);
        if (found != made) {
            throw new IllegalStateException("the tree that lives on had " + made + " nodes, and is found with " + found);
        }
        for (int index = 0; index < NUMBERS; index++) {
            if (numbers[index] != number(index)) {
                throw new IllegalStateException("the array that lives on has another number at " + index + " than was written");
            }
        }
    }

    private static double number(int index) {
        return 1.0 / (index + 1.0);
    }

    /** A node; a leaf has no children. The key is the height above the leaves. */
    private static class Node {
        Node left;
        Node right;
        final int key;

        Node(Node left, Node right, int key) {
            this.left = left;
            this.right = right;
            this.key = key;
        }
    }

    /** A node for references of 4 bytes, as large as one for 8. */
    private static final class Padded extends Node {
        long rest;

        Padded(Node left, Node right, int key) {
            super(left, right, key);
        }
    }

    private static final boolean IS_PADDED = Layout.hasNarrowReferences();

    private static Node node(Node left, Node right, int key) {
        return IS_PADDED ? new Padded(left, right, key) : new Node(left, right, key);
    }

    private static Node topDown(int depth) {
        Node top = node(null, null, depth);
        populate(depth, top);
        return top;
    }

    private static void populate(int depth, Node node) {
        if (depth == 0) {
            return;
        }
        node.left = node(null, null, depth - 1);
        node.right = node(null, null, depth - 1);
        populate(depth - 1, node.left);
        populate(depth - 1, node.right);
    }

    private static Node bottomUp(int depth) {
        if (depth == 0) {
            return node(null, null, 0);
        }
        Node left = bottomUp(depth - 1);
        Node right = bottomUp(depth - 1);
        return node(left, right, depth);
    }

    /** The number of nodes; negative unless each node has the key of its height, and two children or none. */
    private static long count(Node node) {
        if (node.left == null && node.right == null) {
            return node.key == 0 ? 1 : Integer.MIN_VALUE;
        }
        if (node.left == null || node.right == null || node.left.key + 1 != node.key || node.right.key + 1 != node.key) {
            return Integer.MIN_VALUE;
        }
        return 1 + count(node.left) + count(node.right);
    }
}
