package allotment.extremem;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * The schedule of the threads: absolute release times, which are never skipped and never moved. All times are nanoseconds since
 * the start.
 *
 * <p>A thread that is late works through its backlog at full speed, and each of its latencies is measured against the schedule.
 * So a pause is seen by every thread whose release falls into it.
 */
final class Schedule {
    /** The time from which latencies are logged. */
    final long logStart;
    private final long end;
    private final AtomicInteger ready = new AtomicInteger();
    private final AtomicInteger over = new AtomicInteger();
    private volatile boolean hasStarted;
    /** The error of the thread that failed; the run is given up then. */
    private volatile Throwable failure;
    /** Written before {@link #hasStarted}. */
    private long start;

    Schedule(Workload workload) {
        logStart = workload.warmup;
        end = workload.duration();
    }

    /** Starts the run now. */
    void start() {
        start = System.nanoTime();
        hasStarted = true;
    }

    /**
     * Waits for the start; returns whether there was one. A thread that waits here allocates nothing, so that it takes its first
     * buffer after the start.
     */
    boolean awaitStart() {
        ready.incrementAndGet();
        while (!hasStarted && failure == null) {
            LockSupport.park(this);
        }
        return failure == null;
    }

    /** Threads that have come to the start. */
    int ready() {
        return ready.get();
    }

    /** Records that the calling thread is done; {@code error} is null if all went well. */
    void leave(Throwable error) {
        if (error != null) {
            failure = error;
        }
        over.incrementAndGet();
    }

    /** Threads that are done. */
    int over() {
        return over.get();
    }

    /** The error of the thread that failed, or null. */
    Throwable failure() {
        return failure;
    }

    /** The time since the start. */
    long now() {
        return System.nanoTime() - start;
    }

    /**
     * Sleeps until {@code time}, unless it has passed. Returns what counts as the time afterwards: {@code time} itself after a
     * sleep, else the real one.
     */
    long sleep(long time) {
        long now = now();
        if (now >= time) {
            return now;
        }
        for (long left = time - now; left > 0 && failure == null; left = time - now()) {
            LockSupport.parkNanos(this, left);
        }
        return time;
    }

    /** The result of {@link #release} when the run is over for a thread. */
    static final long OVER = -1;

    /** Sleeps until a release. */
    long release(long release) {
        if (release >= end) {
            return OVER;
        }
        long now = sleep(release);
        return now < end && failure == null ? now : OVER;
    }

    /** The lateness of this moment against {@code planned}, in microseconds, truncated. */
    long late(long planned) {
        return (now() - planned) / 1000;
    }
}
