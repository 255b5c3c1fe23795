import java.lang.ref.*;
import java.util.*;
import java.util.function.Supplier;

/** Keeps objects in the ways of Java programs, says so, and waits for the end of its input. */
public class Keeps {
    static class Node {
        Node next;
        byte[] data;

        Node(Node next, int bytes) {
            this.next = next;
            data = new byte[bytes];
        }
    }

    /** Fields of all types, so that they leave gaps. */
    static class Mixed {
        byte a;
        long b;
        short c;
        Object d;
        boolean e;
        double f;
        char g;
        int h;
        float i;
    }

    static class MoreMixed extends Mixed {
        byte j;
        Object k;
        short l;
        boolean m;
    }

    /** Nothing but static fields holds these. */
    static class Statics {
        static final Map<String, Node> CACHE = new HashMap<>();
        static final int[] NUMBERS = new int[1000];
        static final Node[][] TABLE = new Node[30][7];
        static boolean flag;
        static long count;
    }

    static class Referent extends Node {
        Referent() {
            super(null, 3000);
        }
    }

    static Node list;
    static Object[] mixed = new Object[1000];
    static Supplier<Object> lambda;
    static List<Reference<?>> references = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < 1000; i++) {
            list = new Node(list, i);
            mixed[i] = i % 3 == 0 ? new MoreMixed() : i % 3 == 1 ? new Mixed() : null;
        }
        for (int i = 0; i < 100; i++) {
            Statics.CACHE.put("key " + i, new Node(null, 100));
            Statics.TABLE[i % 30][i % 7] = new Node(null, i);
            Referent both = new Referent();
            Statics.CACHE.put("referent " + i, both);
            references.add(new WeakReference<>(both));
            references.add(new SoftReference<>(new Referent()));
            references.add(new WeakReference<>(new Referent()));
        }
        Object captured = new Object[] {new MoreMixed(), new Mixed()};
        lambda = () -> captured;
        List<Thread> threads = new ArrayList<>();
        try {
            var start = Thread.class.getMethod("startVirtualThread", Runnable.class);
            for (int i = 0; i < 10; i++) {
                Node own = new Node(null, 10000 + i);
                Runnable sleeps = () -> {
                    try {
                        Thread.sleep(1000000);
                    } catch (InterruptedException e) {
                    }
                    own.next = own;
                };
                threads.add((Thread) start.invoke(null, sleeps));
            }
        } catch (NoSuchMethodException old) {
            // This release has no virtual threads.
        }
        System.out.println(threads.size());
        System.in.read();
    }
}
