package allotment.extremem;

/** A product that a customer has saved until a time. It stands in a queue, and in the customer's ring. */
final class Saved extends Linked<Saved> {
    final Customer customer;
    final Product product;
    final Time expiry;
    /** The object before this one in the queue, or null. Nothing reads it, but a collector follows it. */
    Saved previous;

    Saved(Customer customer, Product product, long expiry) {
        this.customer = customer;
        this.product = product;
        this.expiry = new Time(expiry);
    }

    @Override
    void follows(Saved before) {
        previous = before;
    }

    /** Takes the first out of a queue if it has expired at {@code now}, else null. */
    static Saved expired(Queue<Saved> queue, long now) {
        synchronized (queue) {
            Saved first = queue.first();
            return first == null || first.expiry.nanoseconds() > now ? null : queue.pop();
        }
    }

    /** A time since the start, in an object of its own as in Extremem. */
    static final class Time {
        private final long seconds;
        private final long rest;

        private Time(long nanoseconds) {
            seconds = nanoseconds / 1_000_000_000;
            rest = nanoseconds % 1_000_000_000;
        }

        private long nanoseconds() {
            return seconds * 1_000_000_000 + rest;
        }
    }
}
