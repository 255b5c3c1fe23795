package allotment.extremem;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/**
 * Keyword search: the products that match all words of a query, and those that match any.
 *
 * <p>With {@code AllowAnyMatch} both searches are always made, with sets of products. Without it only the first is, with sorted
 * arrays of numbers.
 */
final class Search {
    private Search() {}

    /** The candidates of a query: all that match all words; if there are none, and {@code any}, all that match any. */
    static Product[] candidates(Goods goods, String[] query, boolean any) {
        if (!any) {
            return allByArrays(goods, query);
        }
        Product[] all = allBySets(goods, query);
        Product[] some = any(goods, query);
        return all.length > 0 ? all : some;
    }

    /** Adds the products that have a word. */
    private static void add(Set<Product> found, Goods goods, String word) {
        add(found, goods, goods.named(word));
        add(found, goods, goods.described(word));
    }

    private static void add(Set<Product> found, Goods goods, Set<Long> ids) {
        if (ids == null) {
            return;
        }
        for (long id : ids) {
            Product product = goods.product(id);
            if (product != null) {
                found.add(product);
            }
        }
    }

    private static Product[] allBySets(Goods goods, String[] query) {
        Set<Product> all = new HashSet<>();
        add(all, goods, query[0]);
        for (int at = 1; at < query.length; at++) {
            Set<Product> these = new HashSet<>();
            add(these, goods, query[at]);
            Set<Product> missing = new HashSet<>();
            for (Product product : all) {
                if (!these.contains(product)) {
                    missing.add(product);
                }
            }
            all.removeAll(missing);
        }
        return all.toArray(new Product[all.size()]);
    }

    private static Product[] any(Goods goods, String[] query) {
        Set<Product> any = new HashSet<>();
        for (String word : query) {
            add(any, goods, word);
        }
        return any.toArray(new Product[any.size()]);
    }

    /** The sorted numbers of the products that have a word; one that has it in its name and its description is there twice. */
    private static long[] sorted(Goods goods, String word) {
        Set<Long> named = goods.named(word);
        Set<Long> described = goods.described(word);
        long[] numbers = new long[(named == null ? 0 : named.size()) + (described == null ? 0 : described.size())];
        int length = append(numbers, 0, named);
        append(numbers, length, described);
        Arrays.sort(numbers);
        return numbers;
    }

    private static int append(long[] numbers, int length, Set<Long> ids) {
        int end = length;
        if (ids != null) {
            for (long id : ids) {
                numbers[end++] = id;
            }
        }
        return end;
    }

    private static Product[] allByArrays(Goods goods, String[] query) {
        long[] first = sorted(goods, query[0]);
        int length = distinct(first);
        for (int at = 1; at < query.length; at++) {
            length = intersect(first, length, sorted(goods, query[at]));
        }
        Product[] found = new Product[length];
        for (int at = 0; at < length; at++) {
            found[at] = goods.product(first[at]);
        }
        return found;
    }

    /** Moves the different numbers of a sorted array to its front, and returns how many they are. */
    private static int distinct(long[] numbers) {
        int length = 0;
        for (long number : numbers) {
            if (length == 0 || numbers[length - 1] != number) {
                numbers[length++] = number;
            }
        }
        return length;
    }

    /** Keeps those of the first {@code length} numbers that another sorted array has too, and returns how many are left. */
    private static int intersect(long[] numbers, int length, long[] other) {
        int kept = 0;
        int place = 0;
        for (int at = 0; at < length; at++) {
            long number = numbers[at];
            while (place < other.length && other[place] < number) {
                place++;
            }
            if (place < other.length && other[place] == number) {
                numbers[kept++] = number;
            }
        }
        return kept;
    }
}
