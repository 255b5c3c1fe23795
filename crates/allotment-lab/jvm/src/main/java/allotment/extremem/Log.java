package allotment.extremem;

/**
 * A log of latencies, in microseconds: one large array. When it is full, the oldest samples are overwritten. The least and the
 * largest of all are kept apart.
 */
final class Log {
    private final long[] samples;
    private long count;
    private long least = Long.MAX_VALUE;
    private long largest = Long.MIN_VALUE;

    Log(int capacity) {
        samples = new long[capacity];
    }

    /** Empty logs, one for each constant of {@code kinds}. */
    static Log[] each(Class<? extends Enum<?>> kinds, int capacity) {
        Log[] logs = new Log[kinds.getEnumConstants().length];
        for (int kind = 0; kind < logs.length; kind++) {
            logs[kind] = new Log(capacity);
        }
        return logs;
    }

    void add(long sample) {
        samples[(int) (count % samples.length)] = sample;
        count++;
        least = Math.min(least, sample);
        largest = Math.max(largest, sample);
    }

    /** Events, those included whose samples were overwritten. */
    long count() {
        return count;
    }

    long least() {
        return least;
    }

    long largest() {
        return largest;
    }

    /** Samples that are kept. */
    int kept() {
        return (int) Math.min(count, samples.length);
    }

    /** Copies the kept samples. */
    void copyTo(long[] all, int from) {
        System.arraycopy(samples, 0, all, from, kept());
    }
}
