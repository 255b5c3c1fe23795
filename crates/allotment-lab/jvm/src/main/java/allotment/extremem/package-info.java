/**
 * The shop of {@code extremem}: hundreds of customer threads, each with a schedule, over a large and old graph of small objects.
 *
 * <p>It is the workload of JDK-8359947 on the classes of Java's library. Our program has an object for each object here.
 * Both draw the same numbers, so both have the same words, products and customers.
 */
package allotment.extremem;
