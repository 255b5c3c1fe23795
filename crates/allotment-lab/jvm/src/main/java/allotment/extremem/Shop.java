package allotment.extremem;

import allotment.Random;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** The shop: the state that its threads share. */
final class Shop {
    final Workload workload;
    final Schedule schedule;
    final Dictionary dictionary;
    final Goods goods;
    final Customers customers;
    final List<Queue<Sale>> sales = new ArrayList<>();
    final List<Queue<Saved>> saved = new ArrayList<>();
    final Queue<Change<Product>> productChanges = new Queue<>();
    final Queue<Change<Customer>> customerChanges = new Queue<>();
    private final AtomicLong nextProduct = new AtomicLong();

    /** Builds the shop: dictionary, products, customers, empty queues. */
    Shop(Workload workload) {
        this.workload = workload;
        schedule = new Schedule(workload);
        dictionary = new Dictionary(workload.dictionarySize, workload.distinctWords);
        Random random = new Random(workload.randomSeed);
        Product[] products = new Product[workload.products];
        for (int place = 0; place < products.length; place++) {
            products[place] = product(random);
        }
        goods = new Goods(products);
        customers = new Customers(workload.customers);
        for (int place = 0; place < workload.customers; place++) {
            customers.put(place, customer(random, customers));
        }
        for (int queue = 0; queue < workload.salesQueues; queue++) {
            sales.add(new Queue<>());
        }
        for (int queue = 0; queue < workload.browsingQueues; queue++) {
            saved.add(new Queue<>());
        }
    }

    /** A new product with random texts. */
    Product product(Random random) {
        String name = dictionary.concatenation(random, workload.productNameLength);
        String description = dictionary.concatenation(random, workload.productDescriptionLength);
        return new Product(nextProduct.getAndIncrement(), name, description);
    }

    /** A new customer, whose name no customer of {@code others} has. */
    Customer customer(Random random, Customers others) {
        String name = dictionary.name(random);
        while (others.has(name)) {
            name = dictionary.name(random);
        }
        return new Customer(name);
    }

    /** The queue of a thread: with as many queues as server threads, each queue has one of them. */
    static <T> T queue(List<T> queues, int thread) {
        return queues.get(queues.size() - 1 - thread % queues.size());
    }
}
