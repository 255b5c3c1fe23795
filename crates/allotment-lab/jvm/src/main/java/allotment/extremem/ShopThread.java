package allotment.extremem;

/** A thread of the shop: it waits for the start, plays its role to the end, and reports an error. */
abstract class ShopThread extends Thread {
    /** Bytes of the stack, as in our program. */
    private static final int STACK = 512 << 10;

    final Shop shop;

    ShopThread(Shop shop, String name) {
        super(null, null, name, STACK);
        this.shop = shop;
    }

    /** Plays the role to the end of the run. */
    abstract void play();

    @Override
    public final void run() {
        Throwable error = null;
        try {
            if (shop.schedule.awaitStart()) {
                play();
            }
        } catch (Throwable thrown) {
            error = thrown;
        } finally {
            shop.schedule.leave(error);
        }
    }
}
