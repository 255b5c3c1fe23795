package allotment.extremem;

/** One figure of a run. Of several runs a maximum is the largest, and any other their mean. */
record Figure(String label, String unit, double value, boolean isMaximum) {
    static Figure of(String label, String unit, double value) {
        return new Figure(label, unit, value, false);
    }

    static Figure maximum(String label, String unit, double value) {
        return new Figure(label, unit, value, true);
    }
}
