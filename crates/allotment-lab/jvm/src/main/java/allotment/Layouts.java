package allotment;

import java.util.ArrayList;
import java.util.List;
import org.openjdk.jol.info.ClassLayout;
import org.openjdk.jol.info.FieldLayout;

/**
 * Prints the layouts of classes as JOL finds them, a line for each class and one for each of its fields, in the order of their
 * offsets, with tabs between columns:
 *
 * <pre>
 * class  NAME    BYTES   HEADER
 * field  OFFSET  BYTES   TYPE    NAME
 * </pre>
 */
final class Layouts {
    private Layouts() {}

    /** Each argument names a class, or two: {@code Wide:Narrow}, where the second is for references of 4 bytes. */
    public static void main(String[] names) throws ClassNotFoundException {
        List<String> lines = new ArrayList<>();
        for (String name : names) {
            String[] both = name.split(":");
            Class<?> type = Class.forName("allotment." + both[Layout.hasNarrowReferences() ? both.length - 1 : 0]);
            lines.add(String.join("\t", "class", simple(type.getName()), "" + Layout.bytes(type), "" + Layout.headerBytes()));
            for (FieldLayout field : ClassLayout.parseClass(type).fields()) {
                String fieldType = simple(field.typeClass());
                lines.add(String.join("\t", "field", "" + field.offset(), "" + field.size(), fieldType, field.name()));
            }
        }
        lines.forEach(System.out::println);
    }

    /** A type's name without packages: {@code Trees$Node}. */
    private static String simple(String name) {
        return name.substring(name.lastIndexOf('.') + 1);
    }
}
