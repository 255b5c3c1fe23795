package allotment.extremem;

import allotment.Random;
import allotment.figures.Figure;
import allotment.figures.GcLog;
import allotment.figures.HeapUse;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.locks.LockSupport;
import javax.management.JMException;

/** A run: a shop, its threads, and their work until the last has ended. Shop and threads are made before the run begins. */
final class Run {
    /** How often the controller looks whether all threads are done or one has failed, in ms. */
    private static final long LOOK = 100;

    final Workload workload;
    final List<CustomerThread> customers = new ArrayList<>();
    final List<ServerThread> servers = new ArrayList<>();
    final UpdateThread update;
    private final Shop shop;
    private final List<ShopThread> threads = new ArrayList<>();

    /** Figures of the heap right after the start, and after that. */
    List<Figure> start = List.of();
    List<Figure> measured = List.of();
    OptionalDouble firstWaste = OptionalDouble.empty();

    /** Builds the shop and starts the threads, which wait. */
    Run(Workload workload) throws InterruptedException {
        this.workload = workload;
        shop = new Shop(workload);
        Random seeds = new Random(workload.randomSeed);
        for (int index = 0; index < workload.customerThreads; index++) {
            customers.add(new CustomerThread(shop, index, seeds.draw()));
        }
        for (int index = 0; index < workload.serverThreads; index++) {
            servers.add(new ServerThread(shop, index, seeds.draw()));
        }
        update = new UpdateThread(shop);
        threads.addAll(customers);
        threads.addAll(servers);
        threads.add(update);
        threads.forEach(Thread::start);
        while (shop.schedule.ready() < threads.size()) {
            Thread.sleep(1);
        }
    }

    /**
     * Lets all threads begin, and waits for the last. In between, at the end of the window right after the start, the figures of
     * that window are taken.
     */
    void simulate() throws IOException, JMException, InterruptedException {
        try (GcLog log = new GcLog()) {
            HeapUse use = new HeapUse();
            shop.schedule.start();
            threads.forEach(LockSupport::unpark);
            await(workload.settled());
            List<String> first = log.lines();
            start = use.window(first);
            await(Long.MAX_VALUE);
            List<String> rest = log.lines();
            measured = use.window(rest);
            first.addAll(rest);
            firstWaste = HeapUse.firstWaste(first);
        }
        for (ShopThread thread : threads) {
            thread.join();
        }
        if (shop.schedule.failure() != null) {
            throw new IllegalStateException("a thread of the shop has failed", shop.schedule.failure());
        }
    }

    /** Waits until {@code time} nanoseconds after the start, or until all threads are done. Wakes them if one has failed. */
    private void await(long time) throws InterruptedException {
        while (shop.schedule.over() < threads.size() && shop.schedule.now() < time) {
            long left = (time - shop.schedule.now()) / 1_000_000 + 1;
            Thread.sleep(Math.min(Math.max(left, 1), LOOK));
            if (shop.schedule.failure() != null) {
                threads.forEach(LockSupport::unpark);
            }
        }
    }
}
