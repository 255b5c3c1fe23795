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
 * The sizes of objects on this virtual machine, as JOL finds them. A workload whose objects have other sizes than ours would
 * measure something else, so it fails before it begins.
 *
 * <p>JOL is kept from attaching to the process, which takes seconds and more rights than a benchmark should need. Only offsets of
 * fields are needed here, and JOL finds these without attaching. Its messages about that are dropped, since standard output
 * belongs to JMH.
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

    /** The aligned end of the last field. JOL's own sum is wrong where references have 8 bytes: it guesses the alignment. */
    private static long padded(ClassLayout layout) {
        long end = layout.headerSize();
        for (FieldLayout field : layout.fields()) {
            end = Math.max(end, field.offset() + field.size());
        }
        return (end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }

    /**
     * Whether references are compressed to 4 bytes. A workload's class has the size of our object if references have 8 bytes. A
     * subclass adds the missing bytes if they have 4.
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
     * Checks that objects of {@code type} have {@code bytes} bytes.
     *
     * @throws IllegalStateException if they do not; the message says how many they have, and the settings that decide it
     */
    static void demand(Class<?> type, long bytes) {
        long found = bytes(type);
        if (found != bytes) {
            throw wrong(type.getSimpleName() + " has to have " + bytes + " bytes, and has " + found);
        }
    }

    /**
     * Checks the size of the class that is used here: {@code padded} where references have 4 bytes, else {@code plain}.
     *
     * @throws IllegalStateException if it has another size
     */
    static void demand(Class<?> plain, Class<?> padded, long bytes) {
        demand(hasNarrowReferences() ? padded : plain, bytes);
    }

    /** The fault, and the settings of the machine that decide it. */
    static IllegalStateException wrong(String what) {
        return new IllegalStateException(what + ": headers have " + headerBytes() + " bytes and references " + referenceBytes()
                + " here; headers of 12, or 8 with -XX:+UseCompactObjectHeaders, are expected, so no"
                + " -XX:-UseCompressedClassPointers, and objects aligned by 8");
    }
}
