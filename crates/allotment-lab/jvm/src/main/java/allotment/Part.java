package allotment;

import java.util.ArrayList;
import java.util.List;

/**
 * A thread's part of the graph: its vertices, in a table that keeps them alive, and the steps that change them. Steps are drawn
 * from the same sequence as in our program, so after as many steps both graphs are the same.
 */
final class Part {
    /** Places on the board that all parts share. */
    static final int BOARD = 1024;

    /** Numbers that each thread has for its vertices. */
    private static final long NUMBERS = 1L << 48;

    private final Vertex[] table;
    private final Vertex.Leaf[] board;
    private final Random random;
    /** Places of vertices with an array of references. */
    private final int[] arrays;
    private final int vertices;
    /** The number of deaths in 100 steps. */
    private final int death;
    /** The sum of the vertices' numbers. */
    private long sum;
    private long nextNumber;

    /**
     * A part of about {@code bytes} bytes, of thread {@code index}: every vertex is in a ring in the order of the table and in
     * one in random order.
     */
    Part(Vertex.Leaf[] board, Load.Mix mix, long bytes, int index, int death) {
        this.board = board;
        this.death = death;
        // A different sequence from the one that steps are drawn from.
        List<Load> loads = plan(new Random(~(long) index), mix, bytes);
        random = new Random(index);
        nextNumber = index * NUMBERS;
        vertices = loads.size();
        table = new Vertex[vertices * Load.PLACES];
        arrays = new int[(int) loads.stream().filter(load -> load.kind() == Load.Kind.ARRAY).count()];
        int[] places = new int[vertices];
        int array = 0;
        for (int place = 0; place < vertices; place++) {
            Load load = loads.get(place);
            long number = ++nextNumber;
            set(place, Vertex.make(load, place, number));
            sum += number;
            places[place] = place;
            if (load.kind() == Load.Kind.ARRAY) {
                arrays[array++] = place;
            }
        }
        for (int slot = 0; slot <= 2; slot += 2) {
            for (int at = 0; at < vertices; at++) {
                Vertex.connect(vertex(places[at]), slot, vertex(places[(at + 1) % vertices]), slot + 1);
            }
            random.shuffle(places);
        }
    }

    /** The loads of the vertices of a part of about {@code bytes} bytes, the table included; at least two. */
    private static List<Load> plan(Random random, Load.Mix mix, long bytes) {
        List<Load> loads = new ArrayList<>();
        long planned = 16;
        while (planned < bytes || loads.size() < 2) {
            Load load = mix.load(random);
            planned += 8 + load.bytes();
            loads.add(load);
        }
        return loads;
    }

    /** A board with a leaf at each place. */
    static Vertex.Leaf[] board() {
        Vertex.Leaf[] board = new Vertex.Leaf[BOARD * Load.PLACES];
        for (int place = 0; place < BOARD; place++) {
            board[place * Load.PLACES] = new Vertex.Leaf(place);
        }
        return board;
    }

    private Vertex vertex(int place) {
        return table[place * Load.PLACES];
    }

    private void set(int place, Vertex vertex) {
        table[place * Load.PLACES] = vertex;
    }

    /** One random change of the graph. */
    void step() {
        if (random.below(100) < death) {
            replace();
            return;
        }
        int kind = random.below(4);
        if (kind == 0) {
            exchange();
        } else if (kind == 1 && arrays.length > 0) {
            renew();
        } else {
            rewire();
        }
    }

    /** Replaces a vertex: one like it takes its place and its edges. */
    private void replace() {
        int place = random.below(vertices);
        Vertex old = vertex(place);
        long number = ++nextNumber;
        Vertex made = Vertex.make(old.load(), place, number);
        for (int slot = 0; slot < Vertex.EDGES; slot++) {
            Vertex other = old.neighbour(slot);
            // An edge may lead from the vertex to itself.
            Vertex.connect(made, slot, other == old ? made : other, old.wayBack(slot));
        }
        set(place, made);
        sum += number - old.number;
    }

    /** Exchanges the ends of two edges (a double edge swap: every vertex keeps its number of edges). */
    private void rewire() {
        Vertex one = vertex(random.below(vertices));
        int i = random.below(Vertex.EDGES);
        Vertex two = vertex(random.below(vertices));
        int k = random.below(Vertex.EDGES);
        Vertex farOne = one.neighbour(i);
        int j = one.wayBack(i);
        Vertex farTwo = two.neighbour(k);
        int l = two.wayBack(k);
        boolean isSameEdge = (one == two && i == k) || (one == farTwo && i == l);
        if (!isSameEdge) {
            Vertex.connect(one, i, two, k);
            Vertex.connect(farOne, j, farTwo, l);
        }
    }

    /** Replaces a leaf of an array of references. */
    private void renew() {
        int place = arrays[random.below(arrays.length)];
        Vertex.Leaf leaf = new Vertex.Leaf(nextNumber);
        Vertex.Leaf[] array = vertex(place).array;
        int slot = random.below(Load.leaves(Load.length(array))) * Load.LEAF_EVERY;
        array[slot * Load.PLACES] = leaf;
    }

    /** A vertex takes a leaf from the board, and leaves a new one. Two threads may take the same leaf; then both refer to it. */
    private void exchange() {
        Vertex.Leaf leaf = new Vertex.Leaf(nextNumber);
        int place = random.below(BOARD) * Load.PLACES;
        Vertex.Leaf taken = board[place];
        board[place] = leaf;
        vertex(random.below(vertices)).cross = taken;
    }

    /**
     * Checks that the graph is as the steps must have left it.
     *
     * @throws IllegalStateException if an object is lost or wrong; the message names the object
     */
    void check() {
        long found = 0;
        for (int place = 0; place < vertices; place++) {
            Vertex vertex = vertex(place);
            if (vertex == null || vertex.place != place || !vertex.isWhole()) {
                throw new IllegalStateException("vertex " + place
                        + " is lost, or has another place or load than it was made with");
            }
            for (int slot = 0; slot < Vertex.EDGES; slot++) {
                Vertex other = vertex.neighbour(slot);
                int back = vertex.wayBack(slot);
                if (other == null || other.neighbour(back) != vertex || other.wayBack(back) != slot) {
                    throw new IllegalStateException("edge " + slot + " of vertex " + place + " does not lead back");
                }
                if (vertex(other.place) != other) {
                    throw new IllegalStateException("edge " + slot + " of vertex " + place
                            + " leads to a vertex that is not in the table");
                }
            }
            found += vertex.number;
        }
        if (found != sum) {
            throw new IllegalStateException("the vertices' numbers sum up to " + found + ", and not to " + sum);
        }
        for (int place = 0; place < BOARD; place++) {
            Vertex.Leaf leaf = board[place * Load.PLACES];
            if (leaf == null || !leaf.isWhole()) {
                throw new IllegalStateException("leaf " + place + " of the board is lost, or has another number");
            }
        }
    }
}
