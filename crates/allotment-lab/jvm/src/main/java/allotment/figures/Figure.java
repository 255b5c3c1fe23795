package allotment.figures;

/** One figure of a run. Of several runs a maximum is the largest, and any other their mean. */
public record Figure(String label, String unit, double value, boolean isMaximum) {
    public static Figure of(String label, String unit, double value) {
        return new Figure(label, unit, value, false);
    }

    public static Figure maximum(String label, String unit, double value) {
        return new Figure(label, unit, value, true);
    }
}
