package allotment;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.ThreadParams;

/**
 * Reads of memory in an order that caches serve well or badly: the counterpart of {@code cache.gather} and {@code cache.chase},
 * with the same numbers in the same order. An operation is one element. Nothing is allocated.
 *
 * <p>Differences: each read compares its index with the array's length. Links are indexes instead of addresses. Arrays lie
 * where the heap has put them, on the heap's pages. Those of several threads may use the same sets of a cache.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class Cache {
    /** Elements of a call of {@link #gather}. */
    private static final int BLOCK = 16_384;

    /** Turns of sixteen hops in a call of {@link #chase}. */
    private static final int TURNS = 64;

    /** Hops of a turn. */
    private static final int HOPS = 16;

    /** Bytes of a slot of {@link #chase}: a line. */
    private static final int LINE = 64;

    private static boolean isShuffled(String order) {
        return switch (order) {
            case "shuffled" -> true;
            case "sequential" -> false;
            default -> throw new IllegalArgumentException("order `" + order + "`: shuffled and sequential are known");
        };
    }

    /** A thread's values, and as many indexes of them, of 4 bytes each. */
    @State(Scope.Thread)
    public static class Arrays {
        /** Bytes of both arrays. */
        @Param({"16k", "256k", "1m", "4m", "16m", "64m", "128m"})
        public String set;

        /** Order of the reads. */
        @Param({"shuffled", "sequential"})
        public String order;

        private int[] values;
        private int[] indexes;
        private int position;

        @Setup
        public void fill(ThreadParams thread) {
            int elements = Math.toIntExact(Size.of(set) / (2 * Integer.BYTES));
            if (elements < 2) {
                throw new IllegalArgumentException("a set of " + set + ": from 16 bytes on it holds two elements");
            }
            values = new int[elements];
            indexes = new int[elements];
            for (int index = 0; index < elements; index++) {
                values[index] = index;
                indexes[index] = index;
            }
            if (isShuffled(order)) {
                new Random(thread.getThreadIndex()).shuffle(indexes);
            }
        }

        /** The sum of the next {@link #BLOCK} values. The pass wraps around at the end of the arrays as often as needed. */
        private int block() {
            int[] values = this.values;
            int[] indexes = this.indexes;
            int sum = 0;
            int left = BLOCK;
            while (left > 0) {
                int end = Math.min(position + left, indexes.length);
                sum = sum(values, indexes, position, end, sum);
                left -= end - position;
                position = end == indexes.length ? 0 : end;
            }
            return sum;
        }

        private static int sum(int[] values, int[] indexes, int from, int end, int sum) {
            for (int at = from; at < end; at++) {
                sum += values[indexes[at]];
            }
            return sum;
        }
    }

    /** Reads an array in the order of another: independent loads. */
    @Benchmark
    @OperationsPerInvocation(BLOCK)
    public int gather(Arrays arrays) {
        return arrays.block();
    }

    /** A thread's lines, each with the place of the next in one cycle of all. */
    @State(Scope.Thread)
    public static class Cycle {
        /** Bytes of the lines. */
        @Param({"16k", "256k", "1m", "4m", "16m", "64m", "128m"})
        public String set;

        /** Order of the hops. */
        @Param({"shuffled", "sequential"})
        public String order;

        private int[] lines;
        private int at;

        @Setup
        public void link(ThreadParams thread) {
            int slots = Math.toIntExact(Size.of(set) / LINE);
            if (slots < 2) {
                throw new IllegalArgumentException("a set of " + set + ": from 128 bytes on it holds two lines");
            }
            int[] next = new int[slots];
            boolean isShuffled = isShuffled(order);
            for (int slot = 0; slot < slots; slot++) {
                next[slot] = isShuffled ? slot : (slot + 1) % slots;
            }
            if (isShuffled) {
                new Random(thread.getThreadIndex()).shuffleToOneCycle(next);
            }
            int words = LINE / Integer.BYTES;
            lines = new int[Math.multiplyExact(slots, words)];
            for (int slot = 0; slot < slots; slot++) {
                lines[slot * words] = next[slot] * words;
            }
        }
    }

    /** Hops around one cycle of all lines: each load waits for the one before. */
    @Benchmark
    @OperationsPerInvocation(TURNS * HOPS)
    public int chase(Cycle cycle) {
        int[] lines = cycle.lines;
        int at = cycle.at;
        for (int turn = 0; turn < TURNS; turn++) {
            at = lines[lines[lines[lines[at]]]];
            at = lines[lines[lines[lines[at]]]];
            at = lines[lines[lines[lines[at]]]];
            at = lines[lines[lines[lines[at]]]];
        }
        cycle.at = at;
        return at;
    }
}
