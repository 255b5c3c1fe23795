package allotment;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Blackhole;

/**
 * Objects of one size, allocated and dropped: beside the modes of {@code tlab} and {@code prefetch}. An operation is one object.
 *
 * <p>What differs: eden is what the collector makes of it, and is not started over by a mark but collected; the header has 12
 * bytes, or 8 with compact headers, of which all are written as well; buffers come from an eden that all threads share.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class Allocation {
    /** Bytes of an object, header included; from 256 on an array of bytes. */
    @Param({"16", "48", "64", "144"})
    public String size;

    @Setup
    public void choose() {
        Sized.choose(Size.small(size));
    }

    @Benchmark
    @OperationsPerInvocation(Sized.OBJECTS)
    public void allocate(Blackhole hole) {
        Sized.drop(hole);
    }
}
