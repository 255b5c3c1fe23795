package allotment.extremem;

import allotment.figures.Figure;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.ToLongFunction;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/**
 * The figures of a run as rows beside its score: {@code -prof allotment.extremem.Figures}.
 *
 * <p>JMH takes any number of labels from a profiler. Its auxiliary counters are fields of a class, whose names have no dots.
 */
public final class Figures implements InternalProfiler {
    private static final List<String> VISITS = List.of("preparation", "purchase", "save", "abandon", "nothing");
    private static final List<String> DUTIES =
            List.of("server.sales", "server.browsing", "server.customers", "server.products", "server.idle");

    /** Figures of the heap that are reported for the window right after the start too. */
    private static final Set<String> OF_START =
            Set.of("gc.young", "gc.full", "gc.concurrent", "gc.degenerated", "pause.max", "tlab.waste", "cpu");

    @Override
    public String getDescription() {
        return "The figures of a run of the shop";
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {}

    @Override
    public Collection<? extends Result<?>> afterIteration(
            BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
        List<ScalarResult> results = new ArrayList<>();
        for (Figure figure : Extremem.takeRun().map(Figures::of).orElse(List.of())) {
            AggregationPolicy policy = figure.isMaximum() ? AggregationPolicy.MAX : AggregationPolicy.AVG;
            results.add(new ScalarResult(figure.label(), figure.value(), figure.unit(), policy));
        }
        return results;
    }

    /** The figures of a run. */
    static List<Figure> of(Run run) {
        List<Figure> figures = new ArrayList<>();
        Latencies[] visits = new Latencies[VISITS.size()];
        for (int kind = 0; kind < visits.length; kind++) {
            int ordinal = kind;
            visits[kind] = new Latencies(run.customers.stream().map(thread -> thread.logs[ordinal]).toList());
            add(figures, VISITS.get(kind), visits[kind]);
        }
        for (int kind = 0; kind < DUTIES.size(); kind++) {
            int ordinal = kind;
            add(figures, DUTIES.get(kind), new Latencies(run.servers.stream().map(thread -> thread.logs[ordinal]).toList()));
        }
        addVisits(figures, run, Arrays.stream(visits).mapToLong(Latencies::count).toArray());
        figures.add(Figure.of("sold", "counts", run.servers.stream().mapToLong(thread -> thread.sold).sum()));
        figures.add(Figure.of("expired", "counts", run.servers.stream().mapToLong(thread -> thread.expired).sum()));
        addRebuilds(figures, "rebuild.customers", run.update.customers);
        addRebuilds(figures, "rebuild.products", run.update.products);
        Latencies before = new Latencies(run.customers.stream().map(thread -> thread.before).toList());
        for (Latencies.Percentile percentile
                : List.of(Latencies.Percentile.P50, Latencies.Percentile.P99, Latencies.Percentile.P100)) {
            if (before.has(percentile)) {
                figures.add(Figure.of("start.preparation." + percentile.label, "us", before.at(percentile)));
            }
        }
        run.firstWaste.ifPresent(waste -> figures.add(Figure.of("first-gc.waste", "%", waste)));
        for (Figure figure : run.start) {
            if (OF_START.contains(figure.label())) {
                figures.add(new Figure("start." + figure.label(), figure.unit(), figure.value(), figure.isMaximum()));
            }
        }
        figures.addAll(run.measured);
        return figures;
    }

    /** The number of events of a kind, and their percentiles. */
    private static void add(List<Figure> figures, String name, Latencies latencies) {
        figures.add(Figure.of(name + ".n", "counts", latencies.count()));
        for (Latencies.Percentile percentile : Latencies.Percentile.values()) {
            if (latencies.has(percentile)) {
                boolean isMaximum = percentile == Latencies.Percentile.P100;
                figures.add(new Figure(name + "." + percentile.label, "us", latencies.at(percentile), isMaximum));
            }
        }
    }

    /** The decisions of customers: shares of all engagements with a candidate. {@code nothing} is a share of all engagements. */
    private static void addVisits(List<Figure> figures, Run run, long[] counts) {
        double all = sum(run, thread -> thread.engagements);
        double decided = counts[1] + counts[2] + counts[3];
        if (all > 0) {
            figures.add(Figure.of("engagements", "counts", all));
            figures.add(Figure.of("engagements.rate", "1/s", all / (run.workload.simulation / 1e9)));
            figures.add(Figure.of("candidates", "products", sum(run, thread -> thread.matches) / all));
            figures.add(Figure.of("saved", "products", sum(run, thread -> thread.savedBefore) / all));
            figures.add(Figure.of("share.nothing", "%", 100.0 * counts[4] / all));
        }
        if (decided > 0) {
            for (int kind = 1; kind <= 3; kind++) {
                figures.add(Figure.of("share." + VISITS.get(kind), "%", 100.0 * counts[kind] / decided));
            }
        }
    }

    private static double sum(Run run, ToLongFunction<CustomerThread> of) {
        return run.customers.stream().mapToLong(of).sum();
    }

    private static void addRebuilds(List<Figure> figures, String name, UpdateThread.Rebuilds rebuilds) {
        figures.add(Figure.of(name, "counts", rebuilds.count));
        if (rebuilds.count > 0) {
            figures.add(Figure.of(name + ".replaced", "counts", (double) rebuilds.replaced / rebuilds.count));
            figures.add(Figure.of(name + ".mean", "ms", rebuilds.total / 1e6 / rebuilds.count));
            figures.add(Figure.maximum(name + ".max", "ms", rebuilds.longest / 1e6));
        }
    }
}
