// Prints each object of an HPROF file as LeakCanary's reader loads it: see `expected` in hprof.rs.
import java.io.File;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.List;
import shark.*;
import shark.HprofRecord.HeapDumpRecord.ObjectRecord.PrimitiveArrayDumpRecord.*;

public class Shark {
  static String escaped(String text) {
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r");
  }

  static List<String> line(HeapObject object, HeapObject.HeapClass of, long bytes) {
    List<String> line = new ArrayList<>();
    line.add(Long.toHexString(object.getObjectId()));
    line.add(escaped(of.getName()));
    line.add(of.getSuperclass().getName());
    line.add(Long.toString(bytes));
    return line;
  }

  public static void main(String[] arguments) throws Exception {
    EnumSet<HprofRecordTag> tags = EnumSet.allOf(HprofRecordTag.class);
    File file = new File(arguments[0]);
    try (CloseableHeapGraph graph = HprofHeapGraph.Companion.openHeapGraph(file, null, tags);
        PrintStream out = new PrintStream(arguments[1], "UTF-8")) {
      for (Iterator<HeapObject.HeapInstance> all = graph.getInstances().iterator(); all.hasNext();) {
        HeapObject.HeapInstance object = all.next();
        List<String> line = line(object, object.getInstanceClass(), object.getByteSize());
        for (Iterator<HeapField> fields = object.readFields().iterator(); fields.hasNext();) {
          HeapField field = fields.next();
          HeapValue value = field.getValue();
          if (value.getAsNonNullObjectId() != null) value.getAsObject().getObjectId();
          String shown =
              value.getAsObjectId() != null
                  ? "@" + Long.toHexString(value.getAsObjectId())
                  : "=" + value.getAsLong();
          line.add(escaped(field.getName()) + shown);
        }
        out.print(String.join("\t", line) + "\n");
      }
      for (Iterator<HeapObject.HeapObjectArray> all = graph.getObjectArrays().iterator(); all.hasNext();) {
        HeapObject.HeapObjectArray array = all.next();
        List<String> line = line(array, array.getArrayClass(), array.getByteSize());
        for (long element : array.readRecord().getElementIds()) line.add(Long.toHexString(element));
        out.print(String.join("\t", line) + "\n");
      }
      for (Iterator<HeapObject.HeapPrimitiveArray> all = graph.getPrimitiveArrays().iterator(); all.hasNext();) {
        HeapObject.HeapPrimitiveArray array = all.next();
        List<String> line = line(array, array.getArrayClass(), array.getByteSize());
        Object record = array.readRecord();
        if (record instanceof ByteArrayDump) {
          for (byte element : ((ByteArrayDump) record).getArray()) line.add(Byte.toString(element));
        } else {
          for (long element : ((LongArrayDump) record).getArray()) line.add(Long.toString(element));
        }
        out.print(String.join("\t", line) + "\n");
      }
      for (GcRoot root : graph.getGcRoots()) {
        String kind = root.getClass().getSimpleName();
        out.print("root\t" + kind + "\t" + Long.toHexString(root.getId()) + "\n");
      }
    }
  }
}
