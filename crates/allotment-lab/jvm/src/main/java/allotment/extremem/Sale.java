package allotment.extremem;

/** A candidate of a customer, with a review. If the customer buys it, it goes to a queue of sales. */
final class Sale extends Linked<Sale> {
    final Customer customer;
    final Product product;
    final String review;

    Sale(Customer customer, Product product, String review) {
        this.customer = customer;
        this.product = product;
        this.review = review;
    }
}
