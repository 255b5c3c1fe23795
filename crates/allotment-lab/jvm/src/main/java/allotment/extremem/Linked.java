package allotment.extremem;

/** An object that can stand in a {@link Queue}. */
abstract class Linked<T extends Linked<T>> {
    /** The next in the queue. */
    T next;

    /** Tells this object which object is before it. Most objects do not remember it. */
    void follows(T previous) {}
}
