package allotment;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;

/** The number of collections of any kind so far, as the beans of this virtual machine count them. */
final class Collections {
    private Collections() {}

    static long count() {
        long count = 0;
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            count += Math.max(0, bean.getCollectionCount());
        }
        return count;
    }
}
