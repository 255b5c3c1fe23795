package allotment.figures;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The figures of the heap in a window of the run, from the log and from the process, under the labels that ours have. */
public final class HeapUse {
    private static final double MEBIBYTE = 1 << 20;

    /** {@code GC(7) Y: Pause Mark End 0.01ms}: ZGC names the generation before a part. */
    private static final Pattern PART = Pattern.compile("GC\\(\\d+\\) (?:[A-Za-z]: )?(Pause|Concurrent) (.+?) ([0-9.]+)ms");
    private static final Pattern ZGC_CYCLE = Pattern.compile("GC\\(\\d+\\) (Minor|Major) Collection .* [0-9.]+s");
    private static final Pattern WASTE = Pattern.compile("TLAB totals: .*waste: *([0-9.]+)%(.*)");
    private static final Pattern WASTED = Pattern.compile("(?:gc|slow|fast|refill): ([0-9]+)B");

    /** The names of concurrent parts whose label is not simply their name. */
    private static final Map<String, String> SHORT = Map.of(
            "marking", "mark", "weak references", "weak", "evacuation", "evacuate", "update references", "update",
            "relocate", "evacuate");

    private final OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private final boolean isConcurrent = isNamed("(Shenandoah|ZGC|G1).*");
    private final boolean hasCycles = isNamed("(Shenandoah|ZGC).*");
    private long began = System.nanoTime();
    private long cpuBefore = system.getProcessCpuTime();

    /** Whether a bean of the collector has such a name. */
    private static boolean isNamed(String pattern) {
        return ManagementFactory.getGarbageCollectorMXBeans().stream().anyMatch(bean -> bean.getName().matches(pattern));
    }

    /** The times of concurrent parts of one kind, in ms. */
    private static final class Parts {
        private int count;
        private double total;
        private double longest;

        private void add(double time) {
            count++;
            total += time;
            longest = Math.max(longest, time);
        }
    }

    /** Counts and times of a window's lines. */
    private static final class Heard {
        private int young;
        private int full;
        private int degenerated;
        private int cycles;
        private int youngCycles;
        private final List<Double> pauses = new ArrayList<>();
        private final Map<String, Parts> parts = new TreeMap<>();
        private double wasted;
        private double handedOut;

        private void add(String line) {
            Matcher part = PART.matcher(line);
            if (part.lookingAt()) {
                double time = Double.parseDouble(part.group(3));
                if (part.group(1).equals("Pause")) {
                    pause(part.group(2), time);
                } else {
                    cycles += part.group(2).startsWith("Mark Cycle") ? 1 : 0;
                    parts.computeIfAbsent(label(part.group(2)), label -> new Parts()).add(time);
                }
                return;
            }
            Matcher cycle = ZGC_CYCLE.matcher(line);
            if (cycle.lookingAt()) {
                cycles++;
                youngCycles += cycle.group(1).equals("Minor") ? 1 : 0;
                return;
            }
            Matcher waste = WASTE.matcher(line);
            double percent = waste.find() ? Double.parseDouble(waste.group(1)) : 0;
            if (percent > 0) {
                double bytes = WASTED.matcher(waste.group(2)).results().mapToDouble(
                        found -> Double.parseDouble(found.group(1))).sum();
                wasted += bytes;
                handedOut += bytes / percent * 100;
            }
        }

        /** Counts a pause. A cycle that degenerates has begun as a concurrent one, unless the log says `Outside of Cycle`. */
        private void pause(String name, double time) {
            pauses.add(time);
            young += name.startsWith("Young") ? 1 : 0;
            full += name.startsWith("Full") ? 1 : 0;
            if (name.startsWith("Degenerated")) {
                degenerated++;
                cycles -= name.contains("Outside of Cycle") ? 0 : 1;
            } else if (name.startsWith("Init Mark")) {
                cycles++;
                youngCycles += name.contains("Young") ? 1 : 0;
            }
        }
    }

    /** {@code concurrent.mark} of {@code marking (Young)}. */
    private static String label(String part) {
        String name = part.replaceAll(" *[(0-9].*", "").toLowerCase();
        return "concurrent." + SHORT.getOrDefault(name, name).replace(' ', '-');
    }

    /** The figures of the window that ends now; {@code lines} are its log. The next window begins. */
    public List<Figure> window(List<String> lines) throws IOException {
        Heard heard = new Heard();
        lines.forEach(heard::add);
        List<Figure> figures = new ArrayList<>();
        figures.add(Figure.of("gc.young", "counts", heard.young));
        figures.add(Figure.of("gc.full", "counts", heard.full));
        if (isConcurrent) {
            figures.add(Figure.of("gc.concurrent", "counts", Math.max(0, heard.cycles)));
        }
        if (hasCycles) {
            figures.add(Figure.of("gc.degenerated", "counts", heard.degenerated));
            figures.add(Figure.of("gc.cycles.young", "counts", heard.youngCycles));
        }
        double[] pauses = heard.pauses.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        double total = 0;
        for (double pause : pauses) {
            total += pause;
        }
        if (pauses.length > 0) {
            figures.add(Figure.of("pause.p50", "ms", percentile(pauses, 0.5)));
            figures.add(Figure.of("pause.p99", "ms", percentile(pauses, 0.99)));
            figures.add(Figure.maximum("pause.max", "ms", pauses[pauses.length - 1]));
        }
        figures.add(Figure.of("pause.total", "ms", total));
        heard.parts.forEach((label, parts) -> {
            figures.add(Figure.of(label, "ms", parts.total / parts.count));
            figures.add(Figure.maximum(label + ".max", "ms", parts.longest));
        });
        if (heard.handedOut > 0) {
            figures.add(Figure.of("tlab.waste", "%", 100 * heard.wasted / heard.handedOut));
        }
        figures.add(Figure.of("rss", "MiB", resident("VmRSS:")));
        figures.add(Figure.maximum("rss.peak", "MiB", resident("VmHWM:")));
        figures.add(Figure.of("cpu", "%", cpu()));
        return figures;
    }

    /** The percentile q of n sorted values, between those at the places around q (n + 1), as JMH computes it. */
    public static double percentile(double[] sorted, double q) {
        double place = q * (sorted.length + 1);
        int below = (int) place;
        if (below < 1) {
            return sorted[0];
        }
        if (below >= sorted.length) {
            return sorted[sorted.length - 1];
        }
        return sorted[below - 1] + (place - below) * (sorted[below] - sorted[below - 1]);
    }

    /** Resident memory of the process, in MiB. */
    private static double resident(String name) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith(name)) {
                return Double.parseDouble(line.substring(name.length()).replace("kB", "").trim()) * 1024 / MEBIBYTE;
            }
        }
        return Double.NaN;
    }

    /** CPU time of the process in the window, in percent of all CPUs. */
    private double cpu() {
        long now = System.nanoTime();
        long cpu = system.getProcessCpuTime();
        double percent = 100.0 * (cpu - cpuBefore) / ((now - began) * (double) Runtime.getRuntime().availableProcessors());
        began = now;
        cpuBefore = cpu;
        return percent;
    }

    /** The part of the bytes in buffers that the first collection of these lines found unused, in percent. */
    public static OptionalDouble firstWaste(List<String> lines) {
        return lines.stream().map(WASTE::matcher).filter(Matcher::find).limit(1).mapToDouble(
                waste -> Double.parseDouble(waste.group(1))).findFirst();
    }
}
