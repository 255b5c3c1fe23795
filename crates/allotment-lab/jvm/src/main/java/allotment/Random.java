package allotment;

/**
 * Pseudo-random numbers that are the same in every run: Marsaglia's xorshift (2003). The workloads of our own heap draw the same
 * sequence from the same seed.
 */
public final class Random {
    private long state;

    /** The sequence number {@code seed}. */
    public Random(long seed) {
        // Odd, so not 0 for any seed: the generator would stay there.
        state = 0x9E37_79B9_7F4A_7C15L * (2 * seed + 1);
    }

    /** A number except 0. */
    public long draw() {
        state ^= state << 13;
        state ^= state >>> 7;
        state ^= state << 17;
        return state;
    }

    /** A number below {@code limit}, of the upper half of a drawn number. */
    public int below(int limit) {
        return (int) (((draw() >>> 32) * limit) >>> 32);
    }

    /** A number from {@code low} to {@code high}, as often between 8 and 16 as between 512 and 1024. */
    int logarithmic(int low, int high) {
        double part = (draw() >>> 11) * 0x1p-53;
        int drawn = (int) (low * Math.pow((double) high / low, part));
        return Math.min(Math.max(drawn, low), high);
    }

    /** Fisher and Yates' shuffle. */
    void shuffle(int[] values) {
        for (int last = values.length - 1; last >= 1; last--) {
            swap(values, last, (int) Long.remainderUnsigned(draw(), last + 1L));
        }
    }

    /** Sattolo's shuffle: a walk from each place to the place that it names passes through all places. */
    void shuffleToOneCycle(int[] values) {
        for (int last = values.length - 1; last >= 1; last--) {
            swap(values, last, below(last));
        }
    }

    private static void swap(int[] values, int one, int other) {
        int value = values[one];
        values[one] = values[other];
        values[other] = value;
    }
}
