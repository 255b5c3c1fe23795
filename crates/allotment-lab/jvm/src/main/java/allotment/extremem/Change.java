package allotment.extremem;

/** A change that the update thread applies when it rebuilds: {@code replacement} takes the place {@code index}. */
final class Change<T> extends Linked<Change<T>> {
    final int index;
    final T replacement;

    Change(int index, T replacement) {
        this.index = index;
        this.replacement = replacement;
    }
}
