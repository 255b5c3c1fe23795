import java.io.File;
import org.netbeans.lib.profiler.heap.*;

/** Prints id, size and retained size of each instance in a dump, as NetBeans' heap walker has them. */
public class NetBeans {
    public static void main(String[] arguments) throws Exception {
        StringBuilder out = new StringBuilder();
        for (Object one : HeapFactory.createHeap(new File(arguments[0])).getAllClasses()) {
            for (Object other : ((JavaClass) one).getInstances()) {
                Instance instance = (Instance) other;
                out.append(instance.getInstanceId()).append(' ').append(instance.getSize()).append(' ');
                out.append(instance.getRetainedSize()).append('\n');
            }
        }
        System.out.print(out);
    }
}
