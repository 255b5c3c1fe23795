// The experiment `lists` on a Java virtual machine: the same lists, made and dropped in the same order.
//
//   java -Xmx256m -XX:+UseParallelGC Lists.java forced [nodes] [lists] [garbage] [shots]
//   java -Xmx68m -XX:+UseParallelGC Lists.java queue [nodes] [threads] [seconds] [iterations]
//
// `forced` prints nanoseconds of System.gc() by the live node; `queue` nanoseconds of a step, the mean over threads,
// collections included. One shot or iteration before them is not measured. With compressed pointers, the default, a node
// has 32 bytes there too. Out of memory ends the program with its message.

public class Lists {
    static final class Node {
        Node next;
        final long key;
        final long value;

        Node(Node next, long key) {
            this.next = next;
            this.key = key;
            this.value = Long.rotateLeft(key, 32) ^ 0x5555;
        }
    }

    // Written to so that no garbage is left out.
    static Node sink;

    static long count(Node node) {
        long found = 0;
        for (; node != null; node = node.next) {
            found++;
            boolean whole = node.value == (Long.rotateLeft(node.key, 32) ^ 0x5555);
            if (!whole || node.next != null && node.next.key != node.key + 1) {
                throw new IllegalStateException("a list is broken");
            }
        }
        return found;
    }

    static double forced(int nodes, int lists, int garbage) {
        Node[] ends = new Node[lists];
        for (int made = 0; made < nodes; made++) {
            for (int dead = 0; dead < garbage; dead++) {
                sink = new Node(null, 0);
            }
            ends[made % lists] = new Node(ends[made % lists], Long.MAX_VALUE - made / lists);
        }
        sink = null;
        long begun = System.nanoTime();
        System.gc();
        long time = System.nanoTime() - begun;
        long found = 0;
        for (Node end : ends) {
            found += count(end);
        }
        if (found != nodes) {
            throw new IllegalStateException(found + " nodes are there, and " + nodes + " were made");
        }
        return (double) time / nodes;
    }

    static final class Queue {
        Node head = new Node(null, 0);
        Node tail = head;
        long nextKey = 1;

        void append() {
            Node node = new Node(null, nextKey++);
            tail.next = node;
            tail = node;
        }
    }

    static double queue(Queue[] queues, int seconds) throws InterruptedException {
        double[] scores = new double[queues.length];
        Thread[] workers = new Thread[queues.length];
        for (int index = 0; index < queues.length; index++) {
            int own = index;
            workers[index] = new Thread(() -> {
                Queue queue = queues[own];
                long steps = 0;
                long begun = System.nanoTime();
                long time;
                do {
                    for (int step = 0; step < 256; step++) {
                        queue.append();
                        queue.head = queue.head.next;
                    }
                    steps += 256;
                    time = System.nanoTime() - begun;
                } while (time < seconds * 1_000_000_000L);
                scores[own] = (double) time / steps;
            });
            workers[index].start();
        }
        double sum = 0;
        for (int index = 0; index < queues.length; index++) {
            workers[index].join();
            sum += scores[index];
        }
        return sum / queues.length;
    }

    static int argument(String[] args, int index, int otherwise) {
        return args.length > index ? Integer.parseInt(args[index]) : otherwise;
    }

    public static void main(String[] args) throws InterruptedException {
        Thread.setDefaultUncaughtExceptionHandler((thread, error) -> {
            System.err.println(error);
            Runtime.getRuntime().halt(1);
        });
        String mode = args.length > 0 ? args[0] : "forced";
        int nodes = argument(args, 1, 1_000_000);
        int measured = argument(args, 4, 3);
        switch (mode) {
            case "forced" -> {
                for (int shot = 0; shot <= measured; shot++) {
                    double score = forced(nodes, argument(args, 2, 1), argument(args, 3, 1));
                    if (shot > 0) {
                        System.out.printf("%.2f ns/op%n", score);
                    }
                }
            }
            case "queue" -> {
                Queue[] queues = new Queue[argument(args, 2, 1)];
                int length = nodes / queues.length;
                for (int index = 0; index < queues.length; index++) {
                    queues[index] = new Queue();
                    for (int made = 1; made < length; made++) {
                        queues[index].append();
                    }
                }
                for (int iteration = 0; iteration <= measured; iteration++) {
                    double score = queue(queues, argument(args, 3, 1));
                    if (iteration > 0) {
                        System.out.printf("%.2f ns/op%n", score);
                    }
                }
                for (Queue queue : queues) {
                    if (count(queue.head) != length) {
                        throw new IllegalStateException("a queue has lost a node, or gained one");
                    }
                }
            }
            default -> {
                System.err.println("`" + mode + "` is no mode: forced and queue are");
                System.exit(2);
            }
        }
    }
}
