package allotment;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.openjdk.jmh.infra.Blackhole;

/**
 * Allocates objects of one size.
 *
 * <p>The size is chosen once in a process. From then on it is a constant to the compiler, as in our own code: a handle to a
 * constructor in a static final field is compiled like {@code new}. Refused: an interface with an implementation for each of
 * the fourteen classes.
 */
final class Sized {
    /** Objects of one {@link #drop}. */
    static final int OBJECTS = 1024;

    /** Objects of at least this many bytes are arrays of bytes. */
    private static final int LEAST_ARRAY = 256;

    /** The chosen size in bytes; 0 before the choice. */
    private static int wanted;

    private Sized() {}

    /** The maker of objects. It is chosen when the first size is requested. */
    private static final class Chosen {
        static final MethodHandle MAKE = handle(wanted);
    }

    /**
     * Chooses {@code bytes} for this process.
     *
     * @throws IllegalStateException if there is no object of that size, or another was chosen before
     */
    static synchronized void choose(int bytes) {
        if (wanted == 0) {
            wanted = bytes;
        }
        if (wanted != bytes) {
            throw new IllegalStateException("objects of " + bytes + " bytes are needed, and this process has chosen " + wanted
                    + ": a process has one size, so take a fork for each (-f 1 or more, not 0)");
        }
        long found = Layout.bytes(one());
        if (found != bytes) {
            throw Layout.wrong("an object of " + bytes + " bytes is needed and has " + found);
        }
    }

    /** Allocates {@link #OBJECTS} objects, zeroed, and drops each. Two a turn, as our loops do. */
    static void drop(Blackhole hole) {
        for (int turn = 0; turn < OBJECTS / 2; turn++) {
            hole.consume(one());
            hole.consume(one());
        }
    }

    /** Allocates an object for each place of {@code kept}, and stores it there. */
    static void keep(Object[] kept) {
        for (int at = 0; at < kept.length; at++) {
            kept[at] = one();
        }
    }

    private static Object one() {
        try {
            return (Object) Chosen.MAKE.invokeExact();
        } catch (RuntimeException | Error error) {
            throw error;
        } catch (Throwable checked) {
            throw new IllegalStateException("the constructors here throw nothing that is checked", checked);
        }
    }

    /** The maker of an object of {@code bytes}, or of the largest class that fits into them. */
    private static MethodHandle handle(int bytes) {
        MethodType objects = MethodType.methodType(Object.class);
        if (bytes >= LEAST_ARRAY) {
            MethodHandle array = MethodHandles.arrayConstructor(byte[].class);
            int length = bytes - Layout.arrayBase(byte.class);
            return MethodHandles.insertArguments(array, 0, length).asType(objects);
        }
        Class<?> best = CLASSES[0];
        for (Class<?> candidate : CLASSES) {
            if (Layout.bytes(candidate) <= bytes) {
                best = candidate;
            }
        }
        try {
            MethodType constructor = MethodType.methodType(void.class);
            return MethodHandles.lookup().findConstructor(best, constructor).asType(objects);
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(best + " has a constructor without arguments", error);
        }
    }

    /**
     * The classes from the smallest to the largest: with headers of 12 or of 8 bytes there is one for each size up to 144 bytes
     * that our lab has compiled in.
     */
    private static final Class<?>[] CLASSES = {
        Longs0.class, Longs1.class, Longs2.class, Longs3.class, Longs4.class, Longs5.class, Longs6.class, Longs7.class,
        Longs10.class, Longs11.class, Longs14.class, Longs15.class, Longs16.class, Longs17.class
    };

    private static final class Longs0 {}

    private static final class Longs1 {
        long a0;
    }

    private static final class Longs2 {
        long a0, a1;
    }

    private static final class Longs3 {
        long a0, a1, a2;
    }

    private static final class Longs4 {
        long a0, a1, a2, a3;
    }

    private static final class Longs5 {
        long a0, a1, a2, a3, a4;
    }

    private static final class Longs6 {
        long a0, a1, a2, a3, a4, a5;
    }

    private static final class Longs7 {
        long a0, a1, a2, a3, a4, a5, a6;
    }

    private static final class Longs10 {
        long a0, a1, a2, a3, a4, a5, a6, a7, a8, a9;
    }

    private static final class Longs11 {
        long a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10;
    }

    private static final class Longs14 {
        long a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13;
    }

    private static final class Longs15 {
        long a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14;
    }

    private static final class Longs16 {
        long a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15;
    }

    private static final class Longs17 {
        long a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16;
    }
}
