package connectcore;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.connect.data.ConnectSchema;
import org.apache.kafka.connect.data.Decimal;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Timestamp;

/** The schema that schemaless values would have, were they structs: how they are laid out in a column. */
final class Shape {
    private static final Map<Class<?>, Schema> PRIMITIVES = Map.of(
            String.class, Schema.OPTIONAL_STRING_SCHEMA,
            Integer.class, Schema.OPTIONAL_INT32_SCHEMA,
            Long.class, Schema.OPTIONAL_INT64_SCHEMA,
            Double.class, Schema.OPTIONAL_FLOAT64_SCHEMA,
            Boolean.class, Schema.OPTIONAL_BOOLEAN_SCHEMA,
            Float.class, Schema.OPTIONAL_FLOAT32_SCHEMA,
            Byte.class, Schema.OPTIONAL_INT8_SCHEMA,
            Short.class, Schema.OPTIONAL_INT16_SCHEMA,
            byte[].class, Schema.OPTIONAL_BYTES_SCHEMA,
            Date.class, Timestamp.builder().optional().build());

    private static final int MOST_DECIMAL_PLACES = 76;

    private Shape() {}

    /** Returns the shape of maps, null where all values are null. Throws CannotSay for anything else. */
    static Schema ofMaps(List<Object> values) {
        Object first = firstOf(values);
        if (first == null) return null;
        if (!(first instanceof Map<?, ?>)) throw new ColumnWriter.CannotSay("a schemaless value is no map");
        return of(values);
    }

    private static Schema of(List<Object> values) {
        Object first = firstOf(values);
        if (first == null) return Schema.OPTIONAL_STRING_SCHEMA;
        if (first instanceof Map<?, ?> map) return ofStructs(map, values);
        if (first instanceof List<?>) return SchemaBuilder.array(of(flat(values))).optional().build();
        if (first instanceof BigDecimal decimal) return ofDecimals(decimal.scale());
        Schema found = PRIMITIVES.get(first.getClass());
        if (found == null) throw new ColumnWriter.CannotSay("a schemaless " + first.getClass().getName());
        return found;
    }

    /** Returns a decimal of a scale that Arrow has; the bytes of others would come back as bytes. */
    private static Schema ofDecimals(int scale) {
        if (scale < 0 || scale > MOST_DECIMAL_PLACES) throw new ColumnWriter.CannotSay("a decimal of scale " + scale);
        return Decimal.builder(scale).optional().build();
    }

    private static Schema ofStructs(Map<?, ?> first, List<Object> values) {
        List<Object> keys = new ArrayList<>(first.keySet());
        List<List<Object>> parts = new ArrayList<>();
        for (int i = 0; i < keys.size(); i++) parts.add(new ArrayList<>(values.size()));
        for (Object value : values) {
            if (value == null) continue;
            if (!(value instanceof Map<?, ?> map) || map.size() != keys.size()) {
                throw new ColumnWriter.CannotSay("schemaless maps of several shapes");
            }
            int i = 0;
            for (Object part : map.values()) parts.get(i++).add(part);
        }
        List<Field> fields = new ArrayList<>();
        for (Object key : keys) {
            if (!(key instanceof String name)) throw new ColumnWriter.CannotSay("a map's key is no text");
            fields.add(new Field(name, fields.size(), of(parts.get(fields.size()))));
        }
        // Not by a SchemaBuilder: it refuses keys that maps may have.
        return new ConnectSchema(Schema.Type.STRUCT, true, null, null, null, null, null, fields, null, null);
    }

    private static List<Object> flat(List<Object> lists) {
        List<Object> items = new ArrayList<>();
        for (Object list : lists) {
            if (list == null) continue;
            if (!(list instanceof List<?> one)) throw new ColumnWriter.CannotSay("a list beside something else");
            items.addAll(one);
        }
        return items;
    }

    private static Object firstOf(List<Object> values) {
        return values.stream().filter(Objects::nonNull).findFirst().orElse(null);
    }
}
