package allotment.extremem;

/**
 * A queue whose links are in the queued objects: the queues of sold and of saved products, and the logs of changes.
 *
 * <p>The head and the last link are old objects that refer to young ones: that is what card tables and remembered sets are for.
 */
final class Queue<T extends Linked<T>> {
    private T head;
    private T tail;

    /** Appends an object that stands in no queue. */
    synchronized void push(T added) {
        if (tail == null) {
            head = added;
        } else {
            tail.next = added;
            added.follows(tail);
        }
        tail = added;
    }

    /** The first object, or null. */
    synchronized T first() {
        return head;
    }

    /** Takes the first out, or null. It no longer refers to the others: a dead old object would keep all that follow alive. */
    synchronized T pop() {
        T first = head;
        if (first != null) {
            head = first.next;
            first.next = null;
            if (head == null) {
                tail = null;
            } else {
                head.follows(null);
            }
        }
        return first;
    }

    /** Takes all out: the first, which leads to the others, or null. */
    synchronized T take() {
        T first = head;
        head = null;
        tail = null;
        return first;
    }
}
