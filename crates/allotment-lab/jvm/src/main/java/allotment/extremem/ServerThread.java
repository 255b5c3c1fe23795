package allotment.extremem;

import allotment.Random;

/**
 * A server thread: one duty in each period. It serves sold products, forgets saved ones that have expired, and replaces customers
 * and products.
 */
final class ServerThread extends ShopThread {
    /** The kinds of latencies. */
    enum Duty { SALES, BROWSING, CUSTOMERS, PRODUCTS, IDLE }

    private final int index;
    private final Random random;
    private final Queue<Sale> sales;
    private final Queue<Saved> saved;
    /** When customers and products are replaced next. */
    private long nextCustomers;
    private long nextProducts;

    /** Latencies of the measured part, by {@link Duty}. */
    final Log[] logs;
    /** Products sold in the measured part, and products whose time was over. */
    long sold;
    long expired;

    ServerThread(Shop shop, int index, long seed) {
        super(shop, "server " + index);
        Workload workload = shop.workload;
        this.index = index;
        random = new Random(seed);
        sales = Shop.queue(shop.sales, index);
        saved = Shop.queue(shop.saved, index);
        nextCustomers = staggered(workload.customerReplacementPeriod);
        nextProducts = staggered(workload.productReplacementPeriod);
        logs = Log.each(Duty.class, workload.responseTimeMeasurements);
    }

    private long staggered(long period) {
        return period * index / shop.workload.serverThreads;
    }

    @Override
    void play() {
        long period = shop.workload.serverPeriod;
        long release = staggered(period);
        int duty = index % 4;
        long now = shop.schedule.release(release);
        while (now != Schedule.OVER) {
            boolean isLogged = now >= shop.schedule.logStart;
            Duty done = switch (duty) {
                case 0 -> serve(release, isLogged);
                case 1 -> expire(release, isLogged);
                case 2 -> replaceCustomers(release);
                default -> replaceProducts(release);
            };
            if (isLogged) {
                logs[done.ordinal()].add(shop.schedule.late(release));
            }
            duty = (duty + 3) % 4;
            release += period;
            now = shop.schedule.release(release);
        }
    }

    /** Serves all sold products of a queue. */
    private Duty serve(long release, boolean isLogged) {
        for (Sale sale = sales.pop(); sale != null; sale = sales.pop()) {
            sale.customer.buys(sale.product.id, release);
            sold += isLogged ? 1 : 0;
        }
        return Duty.SALES;
    }

    /** Forgets the saved products whose time is over. */
    private Duty expire(long release, boolean isLogged) {
        for (Saved one = Saved.expired(saved, release); one != null; one = Saved.expired(saved, release)) {
            one.customer.forget(one);
            expired += isLogged ? 1 : 0;
        }
        return Duty.BROWSING;
    }

    /** Puts new customers in the place of random ones, if it is time. */
    private Duty replaceCustomers(long release) {
        if (release < nextCustomers) {
            return Duty.IDLE;
        }
        Workload workload = shop.workload;
        for (int replaced = 0; replaced < workload.customerReplacementCount; replaced++) {
            Customers customers = shop.customers.snapshot();
            int place = random.below(customers.length());
            shop.customerChanges.push(new Change<>(place, shop.customer(random, customers)));
        }
        nextCustomers += workload.customerReplacementPeriod;
        return Duty.CUSTOMERS;
    }

    /** Puts new products in the place of random ones, if it is time. */
    private Duty replaceProducts(long release) {
        if (release < nextProducts) {
            return Duty.IDLE;
        }
        Workload workload = shop.workload;
        for (int replaced = 0; replaced < workload.productReplacementCount; replaced++) {
            int place = random.below(workload.products);
            shop.productChanges.push(new Change<>(place, shop.product(random)));
        }
        nextProducts += workload.productReplacementPeriod;
        return Duty.PRODUCTS;
    }
}
