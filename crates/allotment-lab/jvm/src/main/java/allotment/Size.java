package allotment;

/** Numbers of bytes as our command takes and prints them: {@code 4096} and {@code 4k} are the same. */
final class Size {
    private Size() {}

    /**
     * The number of bytes that {@code text} means.
     *
     * @throws IllegalArgumentException if it means none
     */
    static long of(String text) {
        int digits = text.length() - 1;
        int shift = digits < 0 ? -1 : "kmg".indexOf(Character.toLowerCase(text.charAt(digits)));
        try {
            long number = Long.parseLong(shift < 0 ? text : text.substring(0, digits));
            return Math.multiplyExact(number, 1L << (10 * (shift + 1)));
        } catch (NumberFormatException | ArithmeticException error) {
            throw new IllegalArgumentException("`" + text + "` is not a number of bytes: write it as 4096, 4k, 64m or 1g", error);
        }
    }

    /** The number of bytes that {@code text} means, if it fits an {@code int}, as lengths of arrays have to. */
    static int small(String text) {
        long number = of(text);
        if (number < 0 || number > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(text + ": from 0 to " + Integer.MAX_VALUE + " work here");
        }
        return (int) number;
    }
}
