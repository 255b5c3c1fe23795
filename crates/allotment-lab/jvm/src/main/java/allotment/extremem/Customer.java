package allotment.extremem;

/**
 * A customer, with a ring of saved products: an array of references that grows and never shrinks. A customer is old and what it
 * saves is new, so each ring is a place where an old object refers to a young one.
 */
final class Customer {
    /** Places of a new ring. */
    private static final int PLACES = 8;

    final String name;
    private Saved[] ring = new Saved[PLACES];
    /** The place of the ring's first element, and the number of its elements. */
    private int first;
    private int length;
    /** A hash of all that the customer bought. */
    private long purchases;

    Customer(String name) {
        this.name = name;
    }

    /** Records the sale of a product. */
    synchronized void buys(long product, long release) {
        purchases = Long.rotateLeft(purchases, 5) ^ (product * 0x9E37_79B9_7F4A_7C15L ^ release);
    }

    /** The saved products, the oldest first, in a new array. */
    synchronized Saved[] saved() {
        Saved[] all = new Saved[length];
        for (int at = 0; at < length; at++) {
            all[at] = ring[place(at)];
        }
        return all;
    }

    private int place(int at) {
        return (first + at) % ring.length;
    }

    /** Appends a product. If the ring is full, it is replaced by one of twice its size. */
    synchronized void save(Saved saved) {
        if (length == ring.length) {
            Saved[] larger = new Saved[2 * length];
            for (int at = 0; at < length; at++) {
                larger[at] = ring[place(at)];
            }
            ring = larger;
            first = 0;
        }
        ring[place(length)] = saved;
        length++;
    }

    /** Removes a product: those before it move on by one place. */
    synchronized void forget(Saved saved) {
        int found = 0;
        while (found < length && ring[place(found)] != saved) {
            found++;
        }
        if (found == length) {
            return;
        }
        for (int at = found; at > 0; at--) {
            ring[place(at)] = ring[place(at - 1)];
        }
        ring[first] = null;
        first = place(1);
        length--;
    }
}
