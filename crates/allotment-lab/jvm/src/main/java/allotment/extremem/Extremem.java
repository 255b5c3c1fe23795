package allotment.extremem;

import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.BenchmarkParams;

/**
 * How late the threads of a shop are against their schedule: the counterpart of {@code extremem.shop}. A shot is a whole run,
 * from the opening of the shop until its last thread has done its work. Its results are the rows of {@link Figures}.
 *
 * <p>Differences: objects have the sizes of Java's library, and the monitors of queues and rings are their locks.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
public class Extremem {
    /** The last run, until its figures are taken. */
    private static Run last;

    /** All options of the workload. The default is the configuration {@code quick}, which is for tests. */
    @Param("AllowAnyMatch=true PhasedUpdateInterval=200ms RandomSeed=42 DictionarySize=20000 DistinctWords=10000"
            + " NumProducts=2000 ProductNameLength=6 ProductDescriptionLength=25 ProductReviewLength=12 NumCustomers=2000"
            + " CustomerThreads=40 CustomerPeriod=100ms CustomerThinkTime=20ms KeywordSearchCount=1 SelectionCriteriaCount=3"
            + " BuyThreshold=0.4 SaveForLaterThreshold=0.4 BrowsingExpiration=400ms ServerThreads=4 ServerPeriod=60ms"
            + " SalesTransactionQueueCount=2 BrowsingHistoryQueueCount=2 CustomerReplacementPeriod=300ms"
            + " CustomerReplacementCount=50 ProductReplacementPeriod=300ms ProductReplacementCount=10 SimulationDuration=2000ms"
            + " WarmupDuration=500ms ResponseTimeMeasurements=1000")
    public String workload;

    private Run run;

    /** Builds the shop. */
    @Setup(Level.Iteration)
    public void build(BenchmarkParams params) throws InterruptedException {
        if (params.getThreads() != 1) {
            throw new IllegalArgumentException(params.getThreads() + " threads: one opens the shop; the options"
                    + " CustomerThreads and ServerThreads set the threads of the shop");
        }
        run = new Run(new Workload(workload));
    }

    @Benchmark
    public void shop() throws Exception {
        run.simulate();
        keep(run);
    }

    @TearDown(Level.Iteration)
    public void close() {
        run = null;
    }

    private static synchronized void keep(Run run) {
        last = run;
    }

    /** The last run, if its figures have not been taken. */
    static synchronized Optional<Run> takeRun() {
        Optional<Run> taken = Optional.ofNullable(last);
        last = null;
        return taken;
    }
}
