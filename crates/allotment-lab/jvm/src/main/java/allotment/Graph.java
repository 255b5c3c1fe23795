package allotment;

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
import org.openjdk.jmh.infra.ThreadParams;

/**
 * A graph that is rebuilt all the time, at random, and always has the same size: the counterpart of {@code graph.mutate}. An
 * operation is one step. The graph begins as ours does, is changed by the same steps, and is checked after each iteration.
 *
 * <p>Differences: places and ways back have 4 bytes and ours 8, and half of a leaf's inverted number is missing. The rest of an
 * object is unused. So all objects have as many bytes as ours, and {@code live} bytes are alive.
 */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class Graph {
    /** Steps between two checks of the harness. */
    private static final int STEPS = 64;

    /** The least live bytes of a thread: some dozens of vertices. */
    private static final long MIN_PART = 64 << 10;

    /** The state that the parts of all threads share. */
    @State(Scope.Benchmark)
    public static class Shared {
        /** Bytes that are alive, of all threads. */
        @Param({"4m", "64m", "256m"})
        public String live;

        /** Percent of the steps that replace a vertex. */
        @Param("10")
        public int death;

        /** How many objects are arrays. */
        @Param("default")
        public String mix;

        private Vertex.Leaf[] board;

        @Setup
        public void make() {
            if (death < 0 || death > 100) {
                throw new IllegalArgumentException("death=" + death + ": of 100 steps at most 100 replace a vertex");
            }
            Vertex.demandSizes();
            board = Part.board();
        }
    }

    /** A thread's part. */
    @State(Scope.Thread)
    public static class Own {
        private Part part;

        @Setup
        public void fill(Shared shared, BenchmarkParams params, ThreadParams thread) {
            long bytes = Size.of(shared.live) / params.getThreads();
            if (bytes < MIN_PART) {
                throw new IllegalArgumentException(shared.live + " live bytes: a thread has at least " + MIN_PART);
            }
            part = new Part(shared.board, Load.Mix.named(shared.mix), bytes, thread.getThreadIndex(), shared.death);
        }

        @TearDown(Level.Iteration)
        public void check() {
            part.check();
        }
    }

    /** Replaces a vertex, rewires edges, or stores a new leaf, at random. */
    @Benchmark
    @OperationsPerInvocation(STEPS)
    public void mutate(Own own) {
        for (int step = 0; step < STEPS; step++) {
            own.part.step();
        }
    }
}
