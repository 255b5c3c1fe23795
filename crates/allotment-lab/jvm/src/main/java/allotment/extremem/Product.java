package allotment.extremem;

/** A product. Products are the same if they have the same number. */
final class Product {
    final long id;
    final String name;
    final String description;

    Product(long id, String name, String description) {
        this.id = id;
        this.name = name;
        this.description = description;
    }

    @Override
    public int hashCode() {
        return (int) id;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Product && ((Product) other).id == id;
    }
}
