import java.util.SplittableRandom;

/**
 * Threads that sleep most of the time, so that each has a small share of the eden and a tiny buffer.
 * Arguments: threads, bursts of each, objects of a burst, the most bytes of an object.
 */
public class Sleepers {
    static volatile Object kept;

    public static void main(String[] arguments) throws Exception {
        int bursts = Integer.parseInt(arguments[1]);
        int objects = Integer.parseInt(arguments[2]);
        int most = Integer.parseInt(arguments[3]);
        Thread[] threads = new Thread[Integer.parseInt(arguments[0])];
        for (int i = 0; i < threads.length; i++) {
            SplittableRandom random = new SplittableRandom(i);
            threads[i] = new Thread(() -> {
                for (int burst = 0; burst < bursts; burst++) {
                    for (int n = 0; n < objects; n++) {
                        kept = new byte[16 + random.nextInt(most)];
                    }
                    try {
                        Thread.sleep(1 + random.nextInt(5));
                    } catch (InterruptedException e) {
                        return;
                    }
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
