package allotment.extremem;

import allotment.Random;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The words of the shop, and the three ways in which the workload makes and drops text: concatenation word by word, names, and
 * cut-out pieces.
 *
 * <p>Extremem reads a word list. Here the words are generated, the same as those of our own heap. Entries are
 * separate strings, even if their texts are equal. Nearly all bytes that the workload allocates are made here, and the waste is
 * on purpose: each concatenation makes a new string of all the text so far.
 */
final class Dictionary {
    /** Mean and deviation of the words' lengths, which are about normally distributed. */
    private static final double MEAN_LENGTH = 9.35;
    private static final double LENGTH_DEVIATION = 2.9;

    private static final int SHORTEST = 3;
    private static final int LONGEST = 20;

    private final String[] entries;

    /** A dictionary of {@code size} entries, of which {@code distinct} differ. The words take turns. */
    Dictionary(int size, int distinct) {
        List<String> words = words(distinct);
        entries = new String[size];
        for (int entry = 0; entry < size; entry++) {
            byte[] letters = words.get(entry % distinct).getBytes(StandardCharsets.ISO_8859_1);
            entries[entry] = new String(letters, StandardCharsets.ISO_8859_1);
        }
    }

    /** Different words of lower-case letters. */
    private static List<String> words(int count) {
        Random random = new Random(0);
        Set<String> known = new HashSet<>(2 * count);
        List<String> words = new ArrayList<>(count);
        while (words.size() < count) {
            char[] letters = new char[length(random)];
            for (int at = 0; at < letters.length; at++) {
                letters[at] = (char) ('a' + random.below(26));
            }
            String word = new String(letters);
            if (known.add(word)) {
                words.add(word);
            }
        }
        return words;
    }

    /** A length by the transform of Box and Muller. */
    private static int length(Random random) {
        double radius = Math.sqrt(-2.0 * Math.log(open(random)));
        double normal = radius * Math.cos(2.0 * Math.PI * open(random));
        return (int) Math.min(Math.max(Math.round(MEAN_LENGTH + LENGTH_DEVIATION * normal), SHORTEST), LONGEST);
    }

    /** A number between 0 and 1, both excluded. */
    private static double open(Random random) {
        return ((random.draw() >>> 11) + 0.5) * 0x1p-53;
    }

    /** A random entry. */
    String draw(Random random) {
        return entries[random.below(entries.length)];
    }

    /** {@code count} different random words. Nothing is copied. */
    String[] query(Random random, int count) {
        String[] words = new String[count];
        int drawn = 0;
        while (drawn < count) {
            String word = draw(random);
            boolean isNew = true;
            for (int known = 0; known < drawn; known++) {
                isNew &= !words[known].equals(word);
            }
            if (isNew) {
                words[drawn++] = word;
            }
        }
        return words;
    }

    /** Random words with spaces between them, made by 2 x {@code words} - 1 concatenations. */
    String concatenation(Random random, int words) {
        String whole = "";
        for (int word = 0; word < words; word++) {
            if (word > 0) {
                whole = whole.concat(" ");
            }
            whole = whole.concat(draw(random));
        }
        return whole;
    }

    /** A name of two random words, each with a capital letter. */
    String name(Random random) {
        return capital(draw(random)).concat(" ").concat(capital(draw(random)));
    }

    private static String capital(String word) {
        return Character.toUpperCase(word.charAt(0)) + word.substring(1);
    }

    /** The factor of the score for a piece that is not found, and of the penalty for a shorter piece. */
    private static final float PENALTY = 0.9375f;

    /**
     * How well a word matches a text: 1 if the text has it. Ever shorter pieces of the word are cut out as strings and searched
     * for, until one is found. Each that is not found lowers the score.
     */
    static float score(String word, String text) {
        float score = 1;
        float penalty = PENALTY;
        for (int length = word.length(); length > 0; length--) {
            for (int start = 0; start <= word.length() - length; start++) {
                if (text.contains(word.substring(start, start + length))) {
                    return score;
                }
                score *= penalty;
            }
            penalty *= PENALTY;
        }
        return score;
    }
}
