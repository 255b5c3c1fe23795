package allotment;

/**
 * The objects of the graph: vertices with edges that know their way back, and the loads of the vertices. Each object has as many
 * bytes as ours.
 *
 * <p>Where slot {@code i} of {@code v} refers to {@code w}, a slot {@code j} of {@code w} refers to {@code v}, and {@code v}
 * remembers {@code j} for {@code i}: so a vertex can be taken out of the graph in constant time.
 */
class Vertex {
    /** Edges of a vertex. */
    static final int EDGES = 4;

    /** Bytes of a vertex, header included. */
    static final int BYTES = 96;

    private static final boolean IS_PADDED = Layout.hasNarrowReferences();

    private Vertex edge0;
    private Vertex edge1;
    private Vertex edge2;
    private Vertex edge3;
    /** For each edge the slot of its way back, a byte each. */
    private int back;
    /** The vertex's place in the table of its part. */
    final int place;
    final long number;
    /** Makes the vertex as large as our own. */
    int rest;
    /** A leaf that perhaps another thread made. */
    Leaf cross;
    private final Medium medium;
    private final byte[] bytes;
    final Leaf[] array;

    private Vertex(int place, long number, Leaf cross, Medium medium, byte[] bytes, Leaf[] array) {
        this.place = place;
        this.number = number;
        this.cross = cross;
        this.medium = medium;
        this.bytes = bytes;
        this.array = array;
    }

    /** A vertex for references of 4 bytes, as large as one for 8. */
    private static final class Padded extends Vertex {
        long rest0, rest1, rest2, rest3;

        Padded(int place, long number, Leaf cross, Medium medium, byte[] bytes, Leaf[] array) {
            super(place, number, cross, medium, bytes, array);
        }
    }

    /** The smallest object: a number, and the same number inverted, of which there is room for half. */
    static final class Leaf {
        static final int BYTES = 24;

        // Final, since another thread may read them.
        private final long number;
        private final int inverted;

        Leaf(long number) {
            this.number = number;
            this.inverted = (int) ~number;
        }

        /** Whether the leaf is as it was made. */
        boolean isWhole() {
            return inverted == (int) ~number;
        }
    }

    /** An object of 128 bytes. */
    private static final class Medium {
        static final int BYTES = 128;

        private final long word0, word1, word2, word3, word4, word5, word6, word7, word8, word9, word10, word11, word12, word13;
        private final int half;

        Medium(long number) {
            word0 = word1 = word2 = word3 = word4 = word5 = word6 = number;
            word7 = word8 = word9 = word10 = word11 = word12 = word13 = number;
            half = (int) number;
        }

        private boolean isWhole(long number) {
            long differences = (word0 ^ number) | (word1 ^ number) | (word2 ^ number) | (word3 ^ number) | (word4 ^ number)
                    | (word5 ^ number) | (word6 ^ number) | (word7 ^ number) | (word8 ^ number) | (word9 ^ number)
                    | (word10 ^ number) | (word11 ^ number) | (word12 ^ number) | (word13 ^ number);
            return differences == 0 && half == (int) number;
        }
    }

    /**
     * Checks that objects have the sizes that everything is planned with.
     *
     * @throws IllegalStateException if an object has another here
     */
    static void demandSizes() {
        Layout.demand(Vertex.class, Padded.class, BYTES);
        Layout.demand(Leaf.class, Leaf.BYTES);
        Layout.demand(Medium.class, Medium.BYTES);
    }

    /** A vertex without edges. */
    static Vertex make(Load load, int place, long number) {
        Leaf cross = new Leaf(number);
        Medium medium = load.kind() == Load.Kind.MEDIUM ? new Medium(number) : null;
        byte[] bytes = load.kind() == Load.Kind.BYTES ? Load.bytes(load.length(), (byte) number) : null;
        Leaf[] array = load.kind() == Load.Kind.ARRAY ? Load.array(load.length(), number) : null;
        return IS_PADDED
                ? new Padded(place, number, cross, medium, bytes, array)
                : new Vertex(place, number, cross, medium, bytes, array);
    }

    /** The load of the vertex. */
    Load load() {
        if (medium != null) {
            return new Load(Load.Kind.MEDIUM, 0);
        }
        if (bytes != null) {
            return new Load(Load.Kind.BYTES, Load.length(bytes));
        }
        return array != null ? new Load(Load.Kind.ARRAY, Load.length(array)) : new Load(Load.Kind.NOTHING, 0);
    }

    /** Whether the load is as it was made. */
    boolean isWhole() {
        if (cross == null || !cross.isWhole() || (medium != null && !medium.isWhole(number))) {
            return false;
        }
        return (bytes == null || Load.isFilled(bytes, (byte) number)) && (array == null || Load.isWhole(array));
    }

    /** The vertex that a slot refers to. */
    Vertex neighbour(int slot) {
        return switch (slot) {
            case 0 -> edge0;
            case 1 -> edge1;
            case 2 -> edge2;
            default -> edge3;
        };
    }

    /** The neighbour's slot that leads back. */
    int wayBack(int slot) {
        return (back >>> (8 * slot)) & 0xFF;
    }

    /** Makes slot {@code i} of {@code v} and slot {@code j} of {@code w} one edge. */
    static void connect(Vertex v, int i, Vertex w, int j) {
        v.lead(i, w, j);
        w.lead(j, v, i);
    }

    private void lead(int slot, Vertex to, int wayBack) {
        switch (slot) {
            case 0 -> edge0 = to;
            case 1 -> edge1 = to;
            case 2 -> edge2 = to;
            default -> edge3 = to;
        }
        back = (back & ~(0xFF << (8 * slot))) | (wayBack << (8 * slot));
    }
}
