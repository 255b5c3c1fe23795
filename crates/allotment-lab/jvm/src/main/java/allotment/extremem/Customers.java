package allotment.extremem;

import java.util.HashMap;

/** The data base of customers, published like that of the {@link Goods}. The key of a customer is the same string as its name. */
final class Customers {
    private String[] names;
    private HashMap<String, Customer> byName;

    private Customers(Customers of) {
        names = of.names;
        byName = of.byName;
    }

    /** A data base without customers. */
    Customers(int count) {
        names = new String[count];
        int capacity = 16;
        while (3L * capacity < 4L * count) {
            capacity *= 2;
        }
        byName = new HashMap<>(capacity);
    }

    /** Gives a customer a place, unless another customer has its name. Returns whether it did. */
    boolean put(int place, Customer customer) {
        if (byName.containsKey(customer.name)) {
            return false;
        }
        String replaced = names[place];
        byName.put(customer.name, customer);
        names[place] = customer.name;
        if (replaced != null) {
            byName.remove(replaced);
        }
        return true;
    }

    /** A copy of the present state. */
    synchronized Customers snapshot() {
        return new Customers(this);
    }

    /** Takes over the contents of another data base. */
    synchronized void publish(Customers other) {
        names = other.names;
        byName = other.byName;
    }

    /** A new array and a new table, with the same customers. Called on a snapshot. */
    Customers copy() {
        Customers copy = new Customers(names.length);
        for (int place = 0; place < names.length; place++) {
            copy.put(place, at(place));
        }
        return copy;
    }

    /** The number of places. */
    int length() {
        return names.length;
    }

    /** The customer at a place. */
    Customer at(int place) {
        return byName.get(names[place]);
    }

    /** Whether a customer has that name. */
    boolean has(String name) {
        return byName.containsKey(name);
    }
}
