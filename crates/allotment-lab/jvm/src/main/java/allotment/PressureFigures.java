package allotment;

import java.util.Collection;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/** The figures of a shot of {@link Pressure} as rows beside its score: {@code -prof allotment.PressureFigures}. */
public final class PressureFigures implements InternalProfiler {
    @Override
    public String getDescription() {
        return "The figures of a heap under pressure";
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {}

    @Override
    public Collection<? extends Result<?>> afterIteration(
            BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
        return Pressure.takeFigures().stream().map(figure -> {
            AggregationPolicy policy = figure.isMaximum() ? AggregationPolicy.MAX : AggregationPolicy.AVG;
            return new ScalarResult(figure.label(), figure.value(), figure.unit(), policy);
        }).toList();
    }
}
