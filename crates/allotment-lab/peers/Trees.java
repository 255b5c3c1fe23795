// The experiment `trees` on a Java virtual machine: the same objects, made in the same order.
//
//   java -Xmx128m -XX:+UseParallelGC Trees.java [threads] [rounds] [depth] [shots]
//
// Prints for each measured shot the mean over threads of their seconds, and the nanoseconds of each object; one shot before
// them is not measured. With compressed pointers, the default, a node has 32 bytes there too. Out of memory ends the
// program with its message.

import java.util.concurrent.CyclicBarrier;

public class Trees {
    static final int LIVING_LEVELS = 2;
    static final int NUMBERS = (4 << 20) / 8;

    static final class Node {
        Node left;
        Node right;
        final long key;

        Node(Node left, Node right, long key) {
            this.left = left;
            this.right = right;
            this.key = key;
        }
    }

    static Node topDown(int depth) {
        Node top = new Node(null, null, depth);
        populate(depth, top);
        return top;
    }

    static void populate(int depth, Node node) {
        if (depth == 0) {
            return;
        }
        node.left = new Node(null, null, depth - 1);
        node.right = new Node(null, null, depth - 1);
        populate(depth - 1, node.left);
        populate(depth - 1, node.right);
    }

    static Node bottomUp(int depth) {
        if (depth == 0) {
            return new Node(null, null, 0);
        }
        Node left = bottomUp(depth - 1);
        Node right = bottomUp(depth - 1);
        return new Node(left, right, depth);
    }

    static long count(Node node) {
        return node == null ? 0 : 1 + count(node.left) + count(node.right);
    }

    // Written to so that no tree is left out.
    static volatile long sink;

    static double shot(int threads, int rounds, int depth) throws Exception {
        CyclicBarrier start = new CyclicBarrier(threads);
        long[] times = new long[threads];
        Thread[] workers = new Thread[threads];
        for (int index = 0; index < threads; index++) {
            int own = index;
            workers[index] = new Thread(() -> {
                try {
                    start.await();
                } catch (Exception error) {
                    throw new IllegalStateException(error);
                }
                long begun = System.nanoTime();
                for (int round = 0; round < rounds; round++) {
                    sink = topDown(depth).key;
                    sink = bottomUp(depth).key;
                }
                times[own] = System.nanoTime() - begun;
            });
            workers[index].start();
        }
        double sum = 0;
        for (int index = 0; index < threads; index++) {
            workers[index].join();
            sum += times[index];
        }
        return sum / threads / 1e9;
    }

    static int argument(String[] args, int index, int otherwise) {
        return args.length > index ? Integer.parseInt(args[index]) : otherwise;
    }

    public static void main(String[] args) throws Exception {
        Thread.setDefaultUncaughtExceptionHandler((thread, error) -> {
            System.err.println(error);
            Runtime.getRuntime().halt(1);
        });
        int threads = argument(args, 0, 1);
        int rounds = argument(args, 1, 100);
        int depth = argument(args, 2, 16);
        int shots = argument(args, 3, 3);
        Node tree = topDown(depth + LIVING_LEVELS);
        double[] numbers = new double[NUMBERS];
        for (int index = 0; index < NUMBERS; index++) {
            numbers[index] = 1.0 / (index + 1.0);
        }
        shot(threads, rounds, depth); // warm-up
        double objects = 2.0 * rounds * ((1L << (depth + 1)) - 1);
        for (int index = 0; index < shots; index++) {
            double seconds = shot(threads, rounds, depth);
            System.out.printf("%.3f s/op, %.2f ns an object%n", seconds, seconds * 1e9 / objects);
        }
        if (count(tree) != (1L << (depth + LIVING_LEVELS + 1)) - 1 || numbers[999] != 1.0 / 1000.0) {
            throw new IllegalStateException("what lives on is broken");
        }
    }
}
