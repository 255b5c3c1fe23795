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
 * Objects of one size, allocated and dropped: the counterpart of modes of {@code tlab} and {@code prefetch}. An operation is one
 * object.
 *
 * <p>Differences: the eden is collected, and a mark does not start it over. The header has 12 bytes, or 8 with compact headers,
 * and is written whole. Buffers come from an eden that all threads share.
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
