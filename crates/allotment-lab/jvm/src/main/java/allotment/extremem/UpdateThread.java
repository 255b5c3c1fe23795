package allotment.extremem;

/**
 * The update thread: it rebuilds the data base of customers and that of products in turn, each a while after the rebuild before.
 *
 * <p>This is the only heavy work on old objects: a complete new index is made by one thread, survives, and the one before it dies
 * at once.
 */
final class UpdateThread extends ShopThread {
    /** The rebuilds of one data base in a whole run. */
    static final class Rebuilds {
        long count;
        /** Customers or products that were replaced, over all rebuilds. */
        long replaced;
        /** Times in nanoseconds. */
        long total;
        long longest;

        private void add(long replacedNow, long time) {
            count++;
            replaced += replacedNow;
            total += time;
            longest = Math.max(longest, time);
        }
    }

    final Rebuilds customers = new Rebuilds();
    final Rebuilds products = new Rebuilds();

    UpdateThread(Shop shop) {
        super(shop, "update");
    }

    @Override
    void play() {
        Schedule schedule = shop.schedule;
        long interval = shop.workload.phasedUpdateInterval;
        long release = interval;
        boolean isCustomers = true;
        while (schedule.release(release) != Schedule.OVER) {
            long begun = schedule.now();
            long replaced = isCustomers ? rebuildCustomers() : rebuildProducts();
            long now = schedule.now();
            (isCustomers ? customers : products).add(replaced, now - begun);
            isCustomers = !isCustomers;
            release = now + interval;
        }
    }

    /** Rebuilds the customers. A change is skipped if another customer has its name by now. */
    private long rebuildCustomers() {
        Customers rebuilt = shop.customers.snapshot().copy();
        long replaced = 0;
        for (Change<Customer> change = shop.customerChanges.take(); change != null; change = change.next) {
            replaced += rebuilt.put(change.index, change.replacement) ? 1 : 0;
        }
        shop.customers.publish(rebuilt);
        return replaced;
    }

    private long rebuildProducts() {
        Goods old = shop.goods.snapshot();
        Change<Product> changes = shop.productChanges.take();
        shop.goods.publish(old.rebuilt(changes));
        long replaced = 0;
        for (Change<Product> change = changes; change != null; change = change.next) {
            replaced++;
        }
        return replaced;
    }
}
