package allotment;

import java.util.Arrays;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
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
import org.openjdk.jmh.infra.BenchmarkParams;

/**
 * Each thread allocates objects and keeps all of them in an array, in one shot: the counterpart of {@code tlab-size}.
 *
 * <p>The array is made and filled before the shot, which therefore only stores into it. Before each shot all threads forget their
 * objects, one of them asks for a collection, and they begin together. A shot in which something was collected is an error, since
 * copying would be measured: docs/jvm.md says how large the heap has to be, with a collector and without (Epsilon, where the
 * objects of all shots stay).
 *
 * <p>Differences: our array is outside the heap. Here the array is an object. Its references have 4 bytes instead of 8, and its
 * stores have the collector's barrier: a card mark with Parallel, none with Epsilon. Flags set the size of buffers, and
 * AlwaysPreTouch touches the pages.
 */
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
public class Refills {
    /** The state that all threads share. */
    @State(Scope.Benchmark)
    public static class Heap {
        /** Objects that each thread allocates and keeps. */
        @Param("50000000")
        public String objects;

        /** Bytes of an object, header included. */
        @Param("16")
        public String size;

        private CyclicBarrier forgotten;
        private CyclicBarrier ready;
        private long collections;

        @Setup
        public void choose(BenchmarkParams params) {
            Sized.choose(Size.small(size));
            forgotten = new CyclicBarrier(params.getThreads(), System::gc);
            ready = new CyclicBarrier(params.getThreads(), () -> collections = Collections.count());
        }
    }

    /** A thread's array. */
    @State(Scope.Thread)
    public static class Kept {
        private Object[] array;

        @Setup
        public void make(Heap heap) {
            array = new Object[Size.small(heap.objects)];
        }

        @Setup(Level.Iteration)
        public void forget(Heap heap) throws InterruptedException, BrokenBarrierException {
            // The array is written to, so that its pages are there. The value is not an object of a shot.
            Arrays.fill(array, this);
            heap.forgotten.await();
            heap.ready.await();
        }

        @TearDown(Level.Iteration)
        public void check(Heap heap) {
            long collections = Collections.count() - heap.collections;
            if (collections != 0) {
                throw new IllegalStateException("the heap was collected " + collections + " times within the shot: take a"
                        + " young generation (-Xmn) that holds the objects of all threads, or fewer objects");
            }
            for (Object object : array) {
                if (object == this) {
                    throw new IllegalStateException("an object of the shot is not in its thread's array");
                }
            }
        }
    }

    @Benchmark
    public Object[] fill(Kept kept) {
        Sized.keep(kept.array);
        return kept.array;
    }
}
