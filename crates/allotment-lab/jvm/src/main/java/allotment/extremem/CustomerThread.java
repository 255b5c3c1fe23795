package allotment.extremem;

import allotment.Random;

/** A customer thread: an engagement in each period. It searches, reviews the candidates, thinks, ranks them, and decides. */
final class CustomerThread extends ShopThread {
    /** The kinds of latencies. */
    enum Visit { PREPARATION, PURCHASE, SAVE, ABANDON, NOTHING }

    private final int index;
    private final Random random;
    private final Queue<Sale> sales;
    private final Queue<Saved> saved;

    /** Latencies of the measured part, by {@link Visit}, and of preparations before that. */
    final Log[] logs;
    final Log before;
    /** Engagements of the measured part, products that matched in them, and products that their customers had saved before. */
    long engagements;
    long matches;
    long savedBefore;

    CustomerThread(Shop shop, int index, long seed) {
        super(shop, "customer " + index);
        Workload workload = shop.workload;
        this.index = index;
        random = new Random(seed);
        sales = Shop.queue(shop.sales, index);
        saved = Shop.queue(shop.saved, index);
        logs = Log.each(Visit.class, workload.responseTimeMeasurements);
        // There is one preparation in each period. Even without a warm-up a log has a place.
        before = new Log((int) (workload.warmup / workload.customerPeriod) + 1);
    }

    @Override
    void play() {
        Workload workload = shop.workload;
        long release = workload.customerPeriod * index / workload.customerThreads;
        long now = shop.schedule.release(release);
        while (now != Schedule.OVER) {
            engage(release, now >= shop.schedule.logStart);
            release += workload.customerPeriod;
            now = shop.schedule.release(release);
        }
    }

    private void engage(long release, boolean isLogged) {
        Workload workload = shop.workload;
        Customers customers = shop.customers.snapshot();
        Customer customer = customers.at(random.below(customers.length()));
        Goods goods = shop.goods.snapshot();
        String[] keywords = shop.dictionary.query(random, workload.keywordSearchCount);
        Product[] found = Search.candidates(goods, keywords, workload.allowAnyMatch);
        Product[] candidates = withSaved(customer, found);
        if (isLogged) {
            engagements++;
            matches += found.length;
            savedBefore += candidates.length - found.length;
        }
        long decision = release + workload.customerThinkTime;
        if (candidates.length == 0) {
            log(Visit.NOTHING, release, isLogged);
            log(Visit.PREPARATION, release, isLogged);
            shop.schedule.sleep(decision);
            return;
        }
        Sale[] offers = new Sale[candidates.length];
        for (int at = 0; at < offers.length; at++) {
            String review = shop.dictionary.concatenation(random, workload.productReviewLength);
            offers[at] = new Sale(customer, candidates[at], review);
        }
        String[] criteria = shop.dictionary.query(random, workload.selectionCriteriaCount);
        log(Visit.PREPARATION, release, isLogged);
        shop.schedule.sleep(decision);
        Visit outcome = decide(customer, offers[best(offers, criteria)]);
        log(outcome, decision, isLogged);
    }

    /** Logs how late this moment is. */
    private void log(Visit visit, long planned, boolean isLogged) {
        long late = shop.schedule.late(planned);
        if (isLogged) {
            logs[visit.ordinal()].add(late);
        } else if (visit == Visit.PREPARATION) {
            before.add(late);
        }
    }

    /** The products that were found, followed by those that the customer saved before. */
    private static Product[] withSaved(Customer customer, Product[] found) {
        Saved[] saved = customer.saved();
        if (saved.length == 0) {
            return found;
        }
        Product[] both = new Product[found.length + saved.length];
        System.arraycopy(found, 0, both, 0, found.length);
        for (int at = 0; at < saved.length; at++) {
            both[found.length + at] = saved[at].product;
        }
        return both;
    }

    /** The place of the offer whose review matches the selection words best; the first of several. */
    private static int best(Sale[] offers, String[] criteria) {
        float[] ranks = new float[offers.length];
        int best = 0;
        for (int at = 0; at < offers.length; at++) {
            float rank = 1;
            for (String word : criteria) {
                rank *= Dictionary.score(word, offers[at].review);
            }
            ranks[at] = rank;
            if (rank > ranks[best]) {
                best = at;
            }
        }
        return best;
    }

    /** Buys an offer, saves its product for later, or leaves it. */
    private Visit decide(Customer customer, Sale chosen) {
        Workload workload = shop.workload;
        double drawn = (random.draw() >>> 11) * 0x1p-53;
        if (drawn < workload.buyThreshold) {
            sales.push(chosen);
            return Visit.PURCHASE;
        }
        if (drawn < workload.buyThreshold + workload.saveForLaterThreshold) {
            Saved record = new Saved(customer, chosen.product, shop.schedule.now() + workload.browsingExpiration);
            saved.push(record);
            customer.save(record);
            return Visit.SAVE;
        }
        return Visit.ABANDON;
    }
}
