package allotment.extremem;

import java.util.Arrays;
import java.util.List;

/** The latencies of one kind of all threads, in microseconds, with all samples that their logs kept. */
final class Latencies {
    /** The percentiles in hundred-thousandths, each with the number of samples that it needs. */
    enum Percentile {
        P50("p50", 50_000, 2),
        P95("p95", 95_000, 100),
        P99("p99", 99_000, 100),
        P99_9("p99.9", 99_900, 1_000),
        P99_99("p99.99", 99_990, 10_000),
        P99_999("p99.999", 99_999, 100_000),
        P100("p100", 100_000, 1);

        final String label;
        private final long part;
        private final long needed;

        Percentile(String label, long part, long needed) {
            this.label = label;
            this.part = part;
            this.needed = needed;
        }
    }

    private final long[] sorted;
    private final long count;

    Latencies(List<Log> logs) {
        sorted = new long[logs.stream().mapToInt(Log::kept).sum()];
        int length = 0;
        for (Log log : logs) {
            log.copyTo(sorted, length);
            length += log.kept();
        }
        Arrays.sort(sorted);
        count = logs.stream().mapToLong(Log::count).sum();
        if (length > 0) {
            // With one sample both places are the same.
            sorted[0] = logs.stream().mapToLong(Log::least).min().getAsLong();
            sorted[length - 1] = logs.stream().mapToLong(Log::largest).max().getAsLong();
        }
    }

    /** Events, those included whose samples were overwritten. */
    long count() {
        return count;
    }

    /** Whether there are enough samples for a percentile. */
    boolean has(Percentile percentile) {
        return sorted.length >= percentile.needed;
    }

    /**
     * A percentile q of n samples is the element {@code floor(n q - 1)} of the sorted samples, counted from 0, of which the first
     * is the least and the last the largest of all events.
     */
    long at(Percentile percentile) {
        // In whole numbers, where the formula's floor is exact.
        return sorted[(int) (sorted.length * percentile.part / 100_000 - 1)];
    }
}
