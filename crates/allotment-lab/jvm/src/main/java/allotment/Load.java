package allotment;

import java.util.Arrays;

/**
 * The load of a vertex beside its leaf, with the lengths of our loads: bytes, and references of 8 bytes. Arrays here have as many
 * bytes in all, whatever the header takes. Where references have 4 bytes, arrays have twice as many of them, and the leaves in
 * them lie as many bytes apart.
 */
record Load(Kind kind, int length) {
    enum Kind { NOTHING, MEDIUM, BYTES, ARRAY }

    /** Places for one reference of ours. */
    static final int PLACES = 8 / Layout.referenceBytes();

    /** Bytes before the elements of an array of ours. */
    private static final int ARRAY_BASE = 16;

    /** One of this many references of ours is a leaf. */
    static final int LEAF_EVERY = 8;

    /** Elements that an array has more because its header has fewer bytes than ours. */
    private static final int MORE_BYTES = ARRAY_BASE - Layout.arrayBase(byte.class);
    private static final int MORE_PLACES = (ARRAY_BASE - Layout.arrayBase(Object.class)) / Layout.referenceBytes();

    /** The number of vertices with each load, of 100 vertices; the others have none. */
    enum Mix {
        SMALL(20, 0, 0),
        DEFAULT(20, 8, 2),
        ARRAYS(20, 30, 30);

        private final int medium;
        private final int bytes;
        private final int array;

        Mix(int medium, int bytes, int array) {
            this.medium = medium;
            this.bytes = bytes;
            this.array = array;
        }

        /**
         * The mix of that name.
         *
         * @throws IllegalArgumentException if there is none
         */
        static Mix named(String word) {
            return switch (word) {
                case "small" -> SMALL;
                case "default" -> DEFAULT;
                case "arrays" -> ARRAYS;
                default -> throw new IllegalArgumentException("mix=" + word + ": small, default and arrays are known");
            };
        }

        /** The load of a random vertex. */
        Load load(Random random) {
            int drawn = random.below(100);
            int fromArray = 100 - array;
            int fromBytes = fromArray - bytes;
            if (drawn < fromBytes - medium) {
                return new Load(Kind.NOTHING, 0);
            }
            if (drawn < fromBytes) {
                return new Load(Kind.MEDIUM, 0);
            }
            return drawn < fromArray
                    ? new Load(Kind.BYTES, random.logarithmic(64, 4096))
                    : new Load(Kind.ARRAY, random.logarithmic(8, 4096));
        }
    }

    /** Bytes of a vertex with this load, all its objects included. */
    long bytes() {
        long load = switch (kind) {
            case NOTHING -> 0;
            case MEDIUM -> 128;
            case BYTES -> ARRAY_BASE + (length + 7) / 8 * 8;
            case ARRAY -> ARRAY_BASE + 8 * length + leaves(length) * Vertex.Leaf.BYTES;
        };
        return Vertex.BYTES + Vertex.Leaf.BYTES + load;
    }

    /** Leaves of an array of {@code length} references of ours. */
    static int leaves(int length) {
        return (length + LEAF_EVERY - 1) / LEAF_EVERY;
    }

    static byte[] bytes(int length, byte value) {
        byte[] made = new byte[length + MORE_BYTES];
        Arrays.fill(made, value);
        return made;
    }

    static int length(byte[] bytes) {
        return bytes.length - MORE_BYTES;
    }

    static boolean isFilled(byte[] bytes, byte value) {
        for (byte found : bytes) {
            if (found != value) {
                return false;
            }
        }
        return true;
    }

    static Vertex.Leaf[] array(int length, long number) {
        Vertex.Leaf[] made = new Vertex.Leaf[length * PLACES + MORE_PLACES];
        for (int slot = 0; slot < length; slot += LEAF_EVERY) {
            made[slot * PLACES] = new Vertex.Leaf(number);
        }
        return made;
    }

    static int length(Vertex.Leaf[] array) {
        return (array.length - MORE_PLACES) / PLACES;
    }

    static boolean isWhole(Vertex.Leaf[] array) {
        for (int slot = 0; slot < length(array); slot += LEAF_EVERY) {
            Vertex.Leaf leaf = array[slot * PLACES];
            if (leaf == null || !leaf.isWhole()) {
                return false;
            }
        }
        return true;
    }
}
