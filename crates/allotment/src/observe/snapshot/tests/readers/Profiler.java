// Prints each object of an HPROF file as the reader of NetBeans loads it, or gridkit's, which has the
// same classes: see `expected` in hprof.rs. Their ways to open a file and to list objects differ.
import java.io.File;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.netbeans.lib.profiler.heap.*;

public class Profiler {
  static Heap open(File file) throws Exception {
    try {
      return (Heap) HeapFactory.class.getMethod("createFastHeap", File.class).invoke(null, file);
    } catch (NoSuchMethodException e) {
      return HeapFactory.createHeap(file);
    }
  }

  static Iterator<?> objects(Heap heap) throws Exception {
    try {
      return (Iterator<?>) Heap.class.getMethod("getAllInstancesIterator").invoke(heap);
    } catch (NoSuchMethodException e) {
      return ((Iterable<?>) Heap.class.getMethod("getAllInstances").invoke(heap)).iterator();
    }
  }

  static String id(Instance object) {
    return object == null ? "0" : Long.toHexString(object.getInstanceId());
  }

  static String escaped(String text) {
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r");
  }

  public static void main(String[] arguments) throws Exception {
    Heap heap = open(new File(arguments[0]));
    try (PrintStream out = new PrintStream(arguments[1], "UTF-8")) {
      for (Iterator<?> objects = objects(heap); objects.hasNext();) {
        Object next = objects.next();
        Instance object = (Instance) next;
        List<String> line = new ArrayList<>();
        line.add(id(object));
        JavaClass above = object.getJavaClass().getSuperClass();
        line.add(escaped(object.getJavaClass().getName()));
        line.add(above == null ? "" : above.getName());
        line.add(Long.toString(object.getSize()));
        // A reader finds an object by its id.
        if (!id(heap.getInstanceByID(object.getInstanceId())).equals(id(object))) throw new Exception(id(object));
        if (object instanceof ObjectArrayInstance) {
          for (Object element : ((ObjectArrayInstance) object).getValues()) line.add(id((Instance) element));
        } else if (object instanceof PrimitiveArrayInstance) {
          for (Object element : ((PrimitiveArrayInstance) object).getValues()) line.add(element.toString());
        } else {
          for (Object each : object.getFieldValues()) {
            FieldValue field = (FieldValue) each;
            boolean refers = field instanceof ObjectFieldValue;
            String value = refers ? id(((ObjectFieldValue) field).getInstance()) : field.getValue();
            line.add(escaped(field.getField().getName()) + (refers ? "@" : "=") + value);
          }
        }
        out.print(String.join("\t", line) + "\n");
      }
      for (Object each : heap.getGCRoots()) {
        GCRoot root = (GCRoot) each;
        out.print("root\t" + root.getKind() + "\t" + id(root.getInstance()) + "\n");
      }
    }
  }
}
