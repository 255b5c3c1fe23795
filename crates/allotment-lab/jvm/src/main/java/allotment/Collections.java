package allotment;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;

/** How often this virtual machine has collected, of any kind, as the beans count it. */
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
