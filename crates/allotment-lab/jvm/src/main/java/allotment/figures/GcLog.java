package allotment.figures;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * The log of collections while a shot runs, in a temporary file.
 *
 * <p>Only the log has pauses, degenerated cycles and unused buffers of all collectors. The beans of collectors have none of
 * these, and a flight recording would allocate while the shot runs.
 */
public final class GcLog implements AutoCloseable {
    /** The logged events: collections with their pauses, those of ZGC too, and the buffers that each collection finds. */
    private static final String WHAT = "gc=info,gc+phases=info,gc+tlab=debug";

    private final Path file;
    private final RandomAccessFile reader;

    /** Begins the log. */
    public GcLog() throws IOException, JMException {
        file = Files.createTempFile("allotment-gc-", ".log");
        reader = new RandomAccessFile(file.toFile(), "r");
        configure("what=" + WHAT);
    }

    private void configure(String what) throws JMException {
        String[] words = {"output=" + file, "output_options=filecount=0", "decorators=none", what};
        ManagementFactory.getPlatformMBeanServer().invoke(
                new ObjectName("com.sun.management:type=DiagnosticCommand"),
                "vmLog",
                new Object[] {words},
                new String[] {String[].class.getName()});
    }

    /** The whole lines that have been written since the last call. */
    public List<String> lines() throws IOException {
        byte[] bytes = new byte[Math.toIntExact(reader.length() - reader.getFilePointer())];
        reader.readFully(bytes);
        String text = new String(bytes, StandardCharsets.UTF_8);
        int end = text.lastIndexOf('\n') + 1;
        reader.seek(reader.getFilePointer() - text.substring(end).getBytes(StandardCharsets.UTF_8).length);
        return new ArrayList<>(text.substring(0, end).lines().toList());
    }

    @Override
    public void close() throws IOException, JMException {
        configure("what=all=off");
        reader.close();
        Files.delete(file);
    }
}
