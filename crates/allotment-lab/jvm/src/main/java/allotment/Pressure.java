package allotment;

import allotment.figures.Figure;
import allotment.figures.GcLog;
import allotment.figures.HeapUse;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
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
 * Heaps under pressure: the counterparts of four modes of {@code pressure}. A shot lasts for a time. Its results are the rows of
 * {@link PressureFigures}.
 *
 * <p>Differences: values have 4 bytes and ours 8, references 4 or 8 and ours 8, headers 12 or 8 and ours 8. The rest of the 32
 * bytes of a node is zeroed and unused.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
public class Pressure {
    private static final int NODE_BYTES = 32;

    /** Nodes of a list of garbage. */
    private static final int SHORT = 100;

    /** Bytes of the arrays of {@code humongous}, in tenths of a region of ours. */
    private static final int[] TENTHS = {11, 15, 21, 32, 77};

    /** Threads of {@code innocent} that allocate as fast as they can. */
    private static final int GREEDY = 2;

    /** Nodes of a chain of {@code tight}. */
    private static final int CHAIN = 1024;

    /** Stored into, so that the compiler leaves no allocation out. */
    private static volatile Object sink;

    /** The figures of the last shot, until they are taken. */
    private static List<Figure> last = List.of();

    /** The time that a shot lasts, in ms. */
    @Param("500")
    public long duration;

    /** Bytes of our heap. */
    @Param("512m")
    public String heap;

    private long heapBytes;

    /** The lists and chains that live. */
    private Node[] lives;

    /** A node. Its key is one larger than that of the node that it refers to. */
    private static class Node {
        final Node next;
        final long key;
        int rest;

        Node(Node next, long key) {
            this.next = next;
            this.key = key;
        }
    }

    /** A node for references of 4 bytes, as large as one for 8. */
    private static final class Padded extends Node {
        int more;

        Padded(Node next, long key) {
            super(next, key);
        }
    }

    private static final boolean IS_PADDED = Layout.hasNarrowReferences();

    private static Node node(Node next, long key) {
        return IS_PADDED ? new Padded(next, key) : new Node(next, key);
    }

    private static Node list(long count) {
        Node newest = null;
        for (long key = 0; key < count; key++) {
            newest = node(newest, key);
        }
        return newest;
    }

    private static void garbage(int count) {
        Node list = null;
        for (int made = 0; made < count; made++) {
            list = node(made % SHORT == 0 ? null : list, made);
        }
        sink = list;
    }

    /** Makes what lives. */
    @Setup(Level.Iteration)
    public void prepare(BenchmarkParams params) {
        Layout.demand(Node.class, Padded.class, NODE_BYTES);
        if (params.getThreads() != 1) {
            throw new IllegalArgumentException(params.getThreads() + " threads: the threads of a case are its own");
        }
        heapBytes = Size.of(heap);
        String name = params.getBenchmark();
        lives = switch (name.substring(name.lastIndexOf('.') + 1)) {
            case "humongous" -> lists(1, heapBytes / 100 * 38 / NODE_BYTES);
            case "innocent" -> lists(GREEDY, heapBytes / 11 / NODE_BYTES);
            case "tight" -> lists((int) (heapBytes / 100 * 80 / (CHAIN * NODE_BYTES)), CHAIN);
            default -> new Node[0];
        };
    }

    private static Node[] lists(int count, long nodes) {
        Node[] made = new Node[count];
        Arrays.setAll(made, place -> list(nodes));
        return made;
    }

    /** Arrays of one to eight regions beside a list that lives. */
    @Benchmark
    public void humongous() throws Exception {
        int unit = Math.toIntExact(Math.max(heapBytes / 2048, 256 << 10));
        measure(List.of(watch -> {
            while (watch.goesOn()) {
                for (int tenths : TENTHS) {
                    watch.time(() -> {
                        long[] array = new long[unit / Long.BYTES * tenths / 10];
                        Arrays.fill(array, 1);
                        sink = array;
                    });
                }
                garbage(100);
            }
        }));
    }

    /** Threads that allocate as fast as they can, and one that allocates little, whose operations are timed. */
    @Benchmark
    public void innocent() throws Exception {
        List<Work> works = new ArrayList<>();
        for (int thread = 0; thread < GREEDY; thread++) {
            works.add(watch -> {
                while (watch.goesOn()) {
                    watch.note(() -> garbage(50_000));
                }
            });
        }
        works.add(watch -> {
            while (watch.goesOn()) {
                Thread.sleep(1);
                watch.time(() -> {
                    for (int key = 0; key < 10; key++) {
                        sink = node(null, key);
                    }
                });
            }
            watch.work = 0;
        });
        measure(works);
    }

    /** Chains that are replaced at random places of a table. */
    @Benchmark
    public void tight() throws Exception {
        Random random = new Random(0);
        measure(List.of(watch -> {
            while (watch.goesOn()) {
                int place = random.below(lives.length);
                watch.time(() -> {
                    lives[place] = null;
                    lives[place] = list(CHAIN);
                });
                watch.note(() -> garbage(1000));
            }
        }));
    }

    /** A thread that makes arrays of a sixth of the heap, and one whose allocations are timed. */
    @Benchmark
    public void ttsp() throws Exception {
        int elements = Math.toIntExact(heapBytes / 6 / Long.BYTES);
        measure(List.of(
                watch -> {
                    while (watch.goesOn()) {
                        watch.note(() -> {
                            long[] array = new long[elements];
                            Arrays.fill(array, 7);
                            sink = array;
                        });
                    }
                },
                watch -> {
                    while (watch.goesOn()) {
                        watch.time(() -> garbage(10_000));
                    }
                    watch.work = 0;
                }));
    }

    /** Checks what lives. */
    @TearDown(Level.Iteration)
    public void check() {
        for (Node list : lives) {
            long expected = list.key;
            for (Node at = list; at != null; at = at.next) {
                if (at.key != expected) {
                    throw new IllegalStateException("a list is broken at key " + expected + ": it has " + at.key);
                }
                expected--;
            }
            if (expected != -1) {
                throw new IllegalStateException("the last " + (expected + 1) + " nodes of a list are missing");
            }
        }
        lives = null;
        sink = null;
    }

    /** The work of a thread. */
    private interface Work {
        void run(Watch watch) throws InterruptedException;
    }

    /** The times of a thread's operations, and the allocations that failed, until the shot is over. */
    private static final class Watch {
        private final long end;
        private long[] times = new long[1 << 14];
        private int count;
        private long work;
        private long failed;

        Watch(long end) {
            this.end = end;
        }

        boolean goesOn() {
            return System.nanoTime() - end < 0;
        }

        void time(Runnable operation) {
            long begun = System.nanoTime();
            note(operation);
            long time = System.nanoTime() - begun;
            if (count == times.length) {
                times = Arrays.copyOf(times, 2 * count);
            }
            times[count++] = time;
        }

        void note(Runnable operation) {
            try {
                operation.run();
                work++;
            } catch (OutOfMemoryError full) {
                failed++;
            }
        }
    }

    /** Runs a thread for each of {@code works}, and keeps the figures. */
    private void measure(List<Work> works) throws Exception {
        try (GcLog log = new GcLog()) {
            HeapUse use = new HeapUse();
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(duration);
            List<Watch> watches = new ArrayList<>();
            List<Thread> threads = new ArrayList<>();
            List<Throwable> failures = new ArrayList<>();
            for (Work work : works) {
                Watch watch = new Watch(end);
                watches.add(watch);
                threads.add(new Thread(() -> {
                    try {
                        work.run(watch);
                    } catch (Throwable failure) {
                        synchronized (failures) {
                            failures.add(failure);
                        }
                    }
                }));
            }
            threads.forEach(Thread::start);
            for (Thread thread : threads) {
                thread.join();
            }
            if (!failures.isEmpty()) {
                throw new IllegalStateException("a thread has failed", failures.get(0));
            }
            List<Figure> figures = figures(watches);
            figures.addAll(use.window(log.lines()));
            keep(figures);
        }
    }

    private static List<Figure> figures(List<Watch> watches) {
        double[] times = watches.stream().flatMapToLong(watch -> Arrays.stream(watch.times, 0, watch.count))
                .mapToDouble(time -> time / 1e3).sorted().toArray();
        List<Figure> figures = new ArrayList<>();
        if (times.length > 0) {
            figures.add(Figure.of("op.p50", "us", HeapUse.percentile(times, 0.5)));
            figures.add(Figure.of("op.p99", "us", HeapUse.percentile(times, 0.99)));
            figures.add(Figure.of("op.p99.9", "us", HeapUse.percentile(times, 0.999)));
            figures.add(Figure.maximum("op.max", "us", times[times.length - 1]));
        }
        figures.add(Figure.of("work", "ops", watches.stream().mapToLong(watch -> watch.work).sum()));
        figures.add(Figure.of("failed", "counts", watches.stream().mapToLong(watch -> watch.failed).sum()));
        return figures;
    }

    private static synchronized void keep(List<Figure> figures) {
        last = figures;
    }

    /** The figures of the last shot, if they have not been taken. */
    static synchronized List<Figure> takeFigures() {
        List<Figure> taken = last;
        last = List.of();
        return taken;
    }
}
