package allotment.extremem;

import allotment.figures.Figure;
import allotment.figures.HeapUse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.StringJoiner;

/** Percentiles, and the figures of logs, for the lab's tests. */
final class Said {
    private Said() {}

    /** Prints {@code percentiles} of 1 to each number that follows, or the figures of the {@code log} on standard input. */
    public static void main(String[] arguments) throws IOException {
        if (arguments[0].equals("log")) {
            String text = new String(System.in.readAllBytes(), StandardCharsets.UTF_8);
            List<String> lines = text.lines().toList();
            for (Figure figure : new HeapUse().window(lines)) {
                System.out.println(figure.label() + " " + figure.value() + (figure.isMaximum() ? " at most" : ""));
            }
            HeapUse.firstWaste(lines).ifPresent(waste -> System.out.println("first-gc.waste " + waste));
            return;
        }
        for (int at = 1; at < arguments.length; at++) {
            System.out.println(percentiles(Integer.parseInt(arguments[at])));
        }
    }

    /** The percentiles of two logs with half of the numbers each, not in order. */
    private static String percentiles(int most) {
        Log[] logs = {new Log(most), new Log(most)};
        for (int sample = most; sample > 0; sample--) {
            logs[sample % 2].add(sample);
        }
        Latencies latencies = new Latencies(List.of(logs));
        StringJoiner text = new StringJoiner(" ");
        for (Latencies.Percentile percentile : Latencies.Percentile.values()) {
            text.add(latencies.has(percentile) ? String.valueOf(latencies.at(percentile)) : "*");
        }
        return text.toString();
    }
}
