package allotment.extremem;

import allotment.Random;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Hashes of the contents of a shop. The lab's tests compare them with those of the same shop in our heap. */
final class Digest {
    /** Queries that are made, and pairs of words that are compared. */
    private static final int SOME = 500;

    private Digest() {}

    public static void main(String[] arguments) {
        Workload workload = new Workload(arguments[0]);
        Shop shop = new Shop(workload);
        Goods goods = shop.goods.snapshot();
        Hash products = new Hash();
        for (int place = 0; place < goods.length(); place++) {
            Product product = goods.at(place);
            products.add(product.id);
            products.add(product.name);
            products.add(product.description);
        }
        Hash customers = new Hash();
        for (int place = 0; place < shop.customers.length(); place++) {
            customers.add(shop.customers.at(place).name);
        }
        System.out.println("products " + products + ", customers " + customers);
        for (boolean any : new boolean[] {true, false}) {
            for (int keywords = 1; keywords <= 3; keywords++) {
                Hash found = new Hash();
                long matches = 0;
                Random random = new Random(keywords);
                for (int query = 0; query < SOME; query++) {
                    String[] words = shop.dictionary.query(random, keywords);
                    Product[] candidates = Search.candidates(goods, words, any);
                    matches += candidates.length;
                    long[] ids = Arrays.stream(candidates).mapToLong(product -> product.id).sorted().toArray();
                    for (long id : ids) {
                        found.add(id);
                    }
                }
                System.out.println(keywords + " keywords, any " + any + ": " + matches + " found, " + found);
            }
        }
        Hash scores = new Hash();
        Random random = new Random(9);
        for (int pair = 0; pair < SOME; pair++) {
            String[] words = shop.dictionary.query(random, 2);
            scores.add(Float.floatToRawIntBits(Dictionary.score(words[0], words[1])));
        }
        System.out.println("scores " + scores);
    }

    /** Fowler, Noll and Vo's hash (FNV-1a), of numbers where theirs is of bytes. */
    private static final class Hash {
        private long state = 0xCBF2_9CE4_8422_2325L;

        private void add(long value) {
            state = (state ^ value) * 0x100_0000_01B3L;
        }

        private void add(String text) {
            for (byte letter : text.getBytes(StandardCharsets.ISO_8859_1)) {
                add((long) letter);
            }
            add(-1L);
        }

        @Override
        public String toString() {
            return Long.toHexString(state);
        }
    }
}
