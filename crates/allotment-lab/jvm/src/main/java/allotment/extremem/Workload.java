package allotment.extremem;

import java.util.HashMap;
import java.util.Map;

/**
 * The workload's options, under the names that Extremem gives them: {@code Name=value}, separated by spaces. All of them are
 * needed. If an option is given twice, the last one counts. The lab checks
 * them and writes them all, so there is one place for their defaults and rules.
 */
final class Workload {
    private static final Map<String, Long> UNITS =
            Map.of("ms", 1_000_000L, "s", 1_000_000_000L, "m", 60_000_000_000L, "h", 3_600_000_000_000L, "d", 86_400_000_000_000L);

    private final Map<String, String> options = new HashMap<>();

    final boolean allowAnyMatch;
    final long randomSeed;
    /** Entries of the dictionary, which may repeat words. */
    final int dictionarySize;
    /** Different words in the dictionary. */
    final int distinctWords;
    final int products;
    /** Lengths in words. */
    final int productNameLength;
    final int productDescriptionLength;
    final int productReviewLength;
    final int customers;
    final int customerThreads;
    /** Times in nanoseconds, here and below. */
    final long customerPeriod;
    final long customerThinkTime;
    final int keywordSearchCount;
    final int selectionCriteriaCount;
    final double buyThreshold;
    final double saveForLaterThreshold;
    final long browsingExpiration;
    final int serverThreads;
    final long serverPeriod;
    final int salesQueues;
    final int browsingQueues;
    /** Of each server thread. */
    final long customerReplacementPeriod;
    final int customerReplacementCount;
    final long productReplacementPeriod;
    final int productReplacementCount;
    final long phasedUpdateInterval;
    /** The measured part of a run. */
    final long simulation;
    /** The time before it, in which nothing is logged. */
    final long warmup;
    /** Samples that each log of latencies has room for. */
    final int responseTimeMeasurements;

    /**
     * The workload of {@code text}.
     *
     * @throws IllegalArgumentException if an option is missing, unknown or not written as it should be
     */
    Workload(String text) {
        for (String option : text.trim().split("\\s+")) {
            int split = option.indexOf('=');
            if (split < 0) {
                throw new IllegalArgumentException("`" + option + "` is not an option: write Name=value");
            }
            options.put(option.substring(0, split), option.substring(split + 1));
        }
        allowAnyMatch = Boolean.parseBoolean(take("AllowAnyMatch"));
        randomSeed = count("RandomSeed");
        dictionarySize = count("DictionarySize");
        distinctWords = count("DistinctWords");
        products = count("NumProducts");
        productNameLength = count("ProductNameLength");
        productDescriptionLength = count("ProductDescriptionLength");
        productReviewLength = count("ProductReviewLength");
        customers = count("NumCustomers");
        customerThreads = count("CustomerThreads");
        customerPeriod = time("CustomerPeriod");
        customerThinkTime = time("CustomerThinkTime");
        keywordSearchCount = count("KeywordSearchCount");
        selectionCriteriaCount = count("SelectionCriteriaCount");
        buyThreshold = Double.parseDouble(take("BuyThreshold"));
        saveForLaterThreshold = Double.parseDouble(take("SaveForLaterThreshold"));
        browsingExpiration = time("BrowsingExpiration");
        serverThreads = count("ServerThreads");
        serverPeriod = time("ServerPeriod");
        salesQueues = count("SalesTransactionQueueCount");
        browsingQueues = count("BrowsingHistoryQueueCount");
        customerReplacementPeriod = time("CustomerReplacementPeriod");
        customerReplacementCount = count("CustomerReplacementCount");
        productReplacementPeriod = time("ProductReplacementPeriod");
        productReplacementCount = count("ProductReplacementCount");
        phasedUpdateInterval = time("PhasedUpdateInterval");
        simulation = time("SimulationDuration");
        warmup = time("WarmupDuration");
        responseTimeMeasurements = count("ResponseTimeMeasurements");
        if (!options.isEmpty()) {
            throw new IllegalArgumentException("unknown options: " + String.join(", ", options.keySet()));
        }
    }

    private String take(String name) {
        String value = options.remove(name);
        if (value == null) {
            throw new IllegalArgumentException("the option " + name + " is missing: all options are needed here, and"
                    + " `allotment run extremem --jvm` gives them");
        }
        return value;
    }

    private int count(String name) {
        return number(name, take(name));
    }

    private static int number(String name, String text) {
        try {
            return Integer.parseUnsignedInt(text);
        } catch (NumberFormatException error) {
            throw new IllegalArgumentException(name + ": `" + text + "` is not a whole number", error);
        }
    }

    private long time(String name) {
        String text = take(name);
        int split = 0;
        while (split < text.length() && Character.isDigit(text.charAt(split))) {
            split++;
        }
        Long unit = UNITS.get(text.substring(split));
        if (unit == null) {
            throw new IllegalArgumentException(name + ": `" + text + "` is not a time: write it as 5s");
        }
        return number(name, text.substring(0, split)) * unit;
    }

    /** Nanoseconds of warm-up and measured part. */
    long duration() {
        return warmup + simulation;
    }

    /** The end of the time right after the start: the warm-up, or without one the first period. */
    long settled() {
        return warmup > 0 ? warmup : customerPeriod;
    }
}
