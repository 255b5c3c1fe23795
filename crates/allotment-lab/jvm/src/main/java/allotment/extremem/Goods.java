package allotment.extremem;

import java.util.HashSet;
import java.util.Set;
import java.util.TreeMap;

/**
 * The data base of products: which there are, and which words each has.
 *
 * <p>The data base is replaced as a whole: its four references are published together, under a monitor that is held for these
 * four stores. What they lead to never changes after that. So readers take a {@link #snapshot} and read without a lock, and the
 * old indexes die at once when the last reader has left them.
 */
final class Goods {
    private Long[] ids;
    private TreeMap<Long, Product> byId;
    /** For each word the numbers of the products that have it. */
    private TreeMap<String, HashSet<Long>> names;
    private TreeMap<String, HashSet<Long>> descriptions;

    private Goods(Goods of) {
        ids = of.ids;
        byId = of.byId;
        names = of.names;
        descriptions = of.descriptions;
    }

    /** The data base of these products. */
    Goods(Product[] products) {
        ids = new Long[products.length];
        byId = new TreeMap<>();
        names = new TreeMap<>();
        descriptions = new TreeMap<>();
        for (int place = 0; place < products.length; place++) {
            Product product = products[place];
            ids[place] = product.id;
            byId.put(ids[place], product);
            add(names, product.name, product.id);
            add(descriptions, product.description, product.id);
        }
    }

    /**
     * Enters each word of {@code text} in an index: the word is cut out as a new string and the number is put into a new object,
     * whether or not the index keeps them.
     */
    private static void add(TreeMap<String, HashSet<Long>> index, String text, long number) {
        int begin = 0;
        while (begin < text.length()) {
            int blank = text.indexOf(' ', begin);
            int end = blank < 0 ? text.length() : blank;
            String word = text.substring(begin, end);
            HashSet<Long> having = index.get(word);
            if (having == null) {
                having = new HashSet<>();
                index.put(word, having);
            }
            having.add(number);
            begin = end + 1;
        }
    }

    /** A copy of the present state. */
    synchronized Goods snapshot() {
        return new Goods(this);
    }

    /** Takes over the contents of another data base. */
    synchronized void publish(Goods other) {
        ids = other.ids;
        byId = other.byId;
        names = other.names;
        descriptions = other.descriptions;
    }

    /** The data base with the changes applied, built anew from the texts of all products. Called on a snapshot. */
    Goods rebuilt(Change<Product> changes) {
        Product[] products = new Product[ids.length];
        for (int place = 0; place < products.length; place++) {
            products[place] = byId.get(ids[place]);
        }
        for (Change<Product> change = changes; change != null; change = change.next) {
            products[change.index] = change.replacement;
        }
        return new Goods(products);
    }

    /** The number of products. */
    int length() {
        return ids.length;
    }

    /** The product at a place. */
    Product at(int place) {
        return byId.get(ids[place]);
    }

    /** The product with that number, or null. */
    Product product(long id) {
        return byId.get(id);
    }

    /** The numbers of the products that have a word in their name; null for none. */
    Set<Long> named(String word) {
        return names.get(word);
    }

    /** The numbers of the products that have a word in their description; null for none. */
    Set<Long> described(String word) {
        return descriptions.get(word);
    }
}
