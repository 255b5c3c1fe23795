package allotment;

import org.openjdk.jmh.infra.Blackhole;

/**
 * Loops that allocate objects of one class each, and the classes: so many {@code long} fields that with headers of 12 or of 8
 * bytes there is one for each size our library has compiled in up to 144 bytes.
 *
 * <p>A class and a loop for each size, since what a compiler inlines is the allocation of a class it knows. One loop with a
 * factory was refused: its call would be measured. Two objects a turn, as our loops have.
 */
abstract class Sized {
    /** Objects of one {@link #run}. */
    static final int OBJECTS = 1024;

    private static final int TURNS = OBJECTS / 2;

    /** Allocates {@link #OBJECTS} objects, zeroed, and drops each. */
    abstract void run(Blackhole hole);

    /** One of the objects. */
    abstract Object one();

    /** The loop whose objects have {@code bytes} bytes on this machine; arrays of bytes from {@link Bytes#LEAST} on. */
    static Sized of(int bytes) {
        if (bytes >= Bytes.LEAST) {
            return Bytes.of(bytes);
        }
        StringBuilder found = new StringBuilder();
        for (Sized loop : new Sized[] {
            new Of0(), new Of1(), new Of2(), new Of3(), new Of4(), new Of5(),
            new Of6(), new Of7(), new Of10(), new Of11(), new Of14(),
            new Of15(), new Of16(), new Of17()
        }) {
            long size = Layout.bytes(loop.one().getClass());
            if (size == bytes) {
                return loop;
            }
            found.append(found.length() == 0 ? "" : ", ").append(size);
        }
        throw Layout.wrong("objects of " + bytes + " bytes wanted, " + found + " found, and arrays from " + Bytes.LEAST
                + " on");
    }

    static final class Longs0 {}

    private static final class Of0 extends Sized {
        @Override
        void run(Blackhole hole) {
            for (int turn = 0; turn < TURNS; turn++) {
                hole.consume(new Longs0());
                hole.consume(new Longs0());
            }
        }

        @Override
        Object one() {
            return new Longs0();
        }
    }

    static final class Longs1 {
        long a0;
    }

    private static final class Of1 extends Sized {
        @Override
        void run(Blackhole hole) {
            for (int turn = 0; turn < TURNS; turn++) {
                hole.consume(new Longs1());
                hole.consume(new Longs1());
            }
        }

        @Override
        Object one() {
            return new Longs1();
        }
    }

    static final class Longs2 {
        long a0, a1;
    }

    private static final class Of2 extends Sized {
        @Override
        void run(Blackhole hole) {
            for (int turn = 0; turn < TURNS; turn++) {
                hole.consume(new Longs2());
                hole.consume(new Longs2());
            }
        }

        @Override
        Object one() {
            return new Longs2();
        }
    }

    static final class Longs3 {
        long a0, a1, a2;
    }

    private static final class Of3 extends Sized {
        @Override
        void run(Blackhole hole) {
            for (int turn = 0; turn < TURNS; turn++) {
                hole.consume(new Longs3());
                hole.consume(new Longs3());
            }
        }

        @Override
        Object one() {
            return new Longs3();
        }
    }

    static final class Longs4 {
        long a0, a1, a2, a3;
    }

    private static final class Of4 extends Sized {
        @Override
        void run(Blackhole hole) {
            for (int turn = 0; turn < TURNS; turn++) {
                hole.consume(new Longs4());
                hole.consume(new Longs4());
            }
        }

        @Override
        Object one() {
            return new Longs4();
        }
    }

    static final class Longs5 {
        long a0, a1, a2, a3, a4;
    }

    private static final class Of5 extends Sized {
        @Override
        void run(Blackhole hole) {
            for (int turn = 0; turn < TURNS; turn++) {
                hole.consume(new Longs5());
                hole.consume(new Longs5());
            }
        }

        @Override
        Object one() {
            return new Longs5();
        }
    }

    static final class Longs6 {
        long a0, a1, a2, a3, a4, a5;
    }

    private static final class Of6 extends Sized {
        @Override
        void run(Blackhole hole) {
            for (int turn = 0; turn < TURNS; turn++) {
                hole.consume(new Longs6());
                hole.consume(new Longs6());
            }
        }

        @Override
        Object one() {
            return new Longs6();
        }
    }

    static final class Longs7 {
        long a0, a1, a2, a3, a4, a5, a6;
    }

    private static final class Of7 extends Sized {
        @Override
        void run(Blackhole hole) {
            for (int turn = 0; turn < TURNS; turn++) {
                hole.consume(new Longs7());
                hole.consume(new Longs7());
            }
        }

        @Override
        Object one() {
            return new Longs7();
        }
    }

    static final class Longs10 {
        long a0, a1, a2, a3, a4, a5, a6, a7, a8, a9;
    }

    private static final class Of10 extends Sized {
        @Override
        void run(Blackhole hole) {
            for (int turn = 0; turn < TURNS; turn++) {
                hole.consume(new Longs10());
                hole.consume(new Longs10());
            }
        }

        @Override
        Object one() {
            return new Longs10();
        }
    }

    static final class Longs11 {
        long a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10;
    }

    private static final class Of11 extends Sized {
        @Override
        void run(Blackhole hole) {
            for (int turn = 0; turn < TURNS; turn++) {
                hole.consume(new Longs11());
                hole.consume(new Longs11());
            }
        }

        @Override
        Object one() {
            return new Longs11();
        }
    }

    static final class Longs14 {
        long a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13;
    }

    private static final class Of14 extends Sized {
        @Override
        void run(Blackhole hole) {
            for (int turn = 0; turn < TURNS; turn++) {
                hole.consume(new Longs14());
                hole.consume(new Longs14());
            }
        }

        @Override
        Object one() {
            return new Longs14();
        }
    }

    static final class Longs15 {
        long a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14;
    }

    private static final class Of15 extends Sized {
        @Override
        void run(Blackhole hole) {
            for (int turn = 0; turn < TURNS; turn++) {
                hole.consume(new Longs15());
                hole.consume(new Longs15());
            }
        }

        @Override
        Object one() {
            return new Longs15();
        }
    }

    static final class Longs16 {
        long a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15;
    }

    private static final class Of16 extends Sized {
        @Override
        void run(Blackhole hole) {
            for (int turn = 0; turn < TURNS; turn++) {
                hole.consume(new Longs16());
                hole.consume(new Longs16());
            }
        }

        @Override
        Object one() {
            return new Longs16();
        }
    }

    static final class Longs17 {
        long a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16;
    }

    private static final class Of17 extends Sized {
        @Override
        void run(Blackhole hole) {
            for (int turn = 0; turn < TURNS; turn++) {
                hole.consume(new Longs17());
                hole.consume(new Longs17());
            }
        }

        @Override
        Object one() {
            return new Longs17();
        }
    }

    /** Arrays of bytes. Their length is a constant to the compiler, as it is in our machine code. */
    private static final class Bytes extends Sized {
        /** Bytes from which on an array is taken. */
        static final int LEAST = 256;

        /** What the length is made of when the class is initialised, which is when the first loop is asked for. */
        private static int wanted;

        @Override
        void run(Blackhole hole) {
            for (int turn = 0; turn < TURNS; turn++) {
                hole.consume(new byte[Length.BYTES]);
                hole.consume(new byte[Length.BYTES]);
            }
        }

        @Override
        Object one() {
            return new byte[Length.BYTES];
        }

        private static final class Length {
            static final int BYTES = wanted - Layout.arrayBase(byte.class);
        }

        static Sized of(int bytes) {
            wanted = bytes;
            Sized loop = new Bytes();
            long found = Layout.bytes(loop.one());
            if (found != bytes) {
                throw new IllegalStateException("arrays of " + bytes + " bytes wanted, " + found
                        + " found: multiples of 8 work, and one size in a process (-f 1 and more, not 0)");
            }
            return loop;
        }
    }
}
