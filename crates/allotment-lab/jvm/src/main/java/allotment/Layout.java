package allotment;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import org.openjdk.jol.info.ClassLayout;
import org.openjdk.jol.info.FieldLayout;
import org.openjdk.jol.vm.VM;
import org.openjdk.jol.vm.VirtualMachine;

/**
 * What objects take on this virtual machine, by JOL: a workload whose objects have other sizes than those it stands beside would
 * measure something else, and says so before it begins.
 *
 * <p>JOL is kept from attaching to the process, which takes seconds and more rights than a benchmark should need: offsets of
 * fields, which it has without, are all that is asked. What it says about that on standard output is dropped, since that belongs
 * to JMH.
 */
final class Layout {
    private static final VirtualMachine MACHINE = quietly();

    private static final long ALIGNMENT = Long.parseLong(ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
            .getVMOption("ObjectAlignmentInBytes").getValue());

    private Layout() {}

    private static VirtualMachine quietly() {
        for (String way : new String[] {"jol.skipInstallAttach", "jol.skipDynamicAttach", "jol.skipHotspotSAAttach"}) {
            System.setProperty(way, "true");
        }
        PrintStream out = System.out;
        System.setOut(new PrintStream(OutputStream.nullOutputStream()));
        try {
            return VM.current();
        } finally {
            System.setOut(out);
        }
    }

    /** Bytes of an object of {@code type}, header and padding included. */
    static long bytes(Class<?> type) {
        return padded(ClassLayout.parseClass(type));
    }

    /** Bytes of {@code object}, which may be an array. */
    static long bytes(Object object) {
        return padded(ClassLayout.parseInstance(object));
    }

    /** JOL's own sum is of no use where references are not compressed: it guesses the alignment by addresses then. */
    private static long padded(ClassLayout layout) {
        long end = layout.headerSize();
        for (FieldLayout field : layout.fields()) {
            end = Math.max(end, field.offset() + field.size());
        }
        return (end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }

    /**
     * Whether references are compressed. A class of a workload has 8 bytes for a reference, so that with our objects it has the
     * size in common; a subclass has what is left of them if references have 4.
     */
    static boolean hasNarrowReferences() {
        return referenceBytes() == 4;
    }

    /** Bytes before the first element of an array of {@code element}: 16, and 12 with compact headers. */
    static int arrayBase(Class<?> element) {
        return MACHINE.arrayBaseOffset(element.getName());
    }

    /** Bytes of a reference: 4, and 8 where they are not compressed, as with Z. */
    static int referenceBytes() {
        return MACHINE.arrayIndexScale(Object.class.getName());
    }

    /** Bytes of an object's header, as this machine is set: 12, and 8 with compact headers. */
    static int headerBytes() {
        return MACHINE.objectHeaderSize();
    }

    /**
     * Demands that objects of {@code type} have {@code bytes} bytes.
     *
     * @throws IllegalStateException if they have not; says how many they have, and what decides that
     */
    static void demand(Class<?> type, long bytes) {
        long found = bytes(type);
        if (found != bytes) {
            throw wrong(type.getSimpleName() + " of " + bytes + " bytes wanted, " + found + " found");
        }
    }

    /**
     * Demands that size of what is made here: {@code padded} where references have 4 bytes, else {@code plain}.
     *
     * @throws IllegalStateException if it has another
     */
    static void demand(Class<?> plain, Class<?> padded, long bytes) {
        demand(hasNarrowReferences() ? padded : plain, bytes);
    }

    /** The fault, and the setting of the machine that decides it. */
    static IllegalStateException wrong(String what) {
        return new IllegalStateException(what + ": headers have " + headerBytes() + " bytes and references " + referenceBytes()
                + " here; headers of 12, or 8 with -XX:+UseCompactObjectHeaders, are expected, so no"
                + " -XX:-UseCompressedClassPointers, and objects aligned by 8");
    }
}
