package connectcore;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.kafka.connect.data.Schema;

/**
 * The keys or the values of a batch: a column where all rows have one schema, else value by value.
 *
 * Schemaless maps are a column, too, where all have the same keys in the same order and one type a key.
 */
final class DataColumn {
    private final List<Schema> schemas = new ArrayList<>();
    private final List<Object> values = new ArrayList<>();

    void add(Schema schema, Object value) {
        schemas.add(schema);
        values.add(value);
    }

    /** Adds what was collected to a frame; the answer tells the other side what it is. */
    ObjectNode finish(Frame frame, Schemas known) {
        ObjectNode said = Json.object();
        List<ByteBuffer> column = column(said, known);
        if (column != null) {
            frame.buffers().addAll(column);
            return said;
        }
        Out numbers = new Out(4 * values.size());
        Out data = new Out();
        for (int i = 0; i < values.size(); i++) {
            numbers.putInt(known.numberOf(schemas.get(i)));
            Values.write(data, values.get(i), known::numberOf);
        }
        frame.buffers().add(numbers.done());
        frame.buffers().add(data.done());
        return Json.object().put("kind", "values");
    }

    private List<ByteBuffer> column(ObjectNode said, Schemas known) {
        Schema first = schemas.isEmpty() ? null : schemas.get(0);
        for (Schema other : schemas) {
            if (other != first && (other == null || !other.equals(first))) return null;
        }
        try {
            Schema schema = first == null ? Shape.ofMaps(values) : first;
            ColumnWriter writer = ColumnWriter.of(schema);
            for (Object value : values) writer.add(value);
            List<ByteBuffer> buffers = new ArrayList<>();
            writer.finish(buffers);
            said.put("kind", first == null ? "schemaless" : "column").put("schema", known.numberOf(schema));
            return buffers;
        } catch (ColumnWriter.CannotSay error) {
            return null;
        }
    }

    /** Reads what the other side has written in the same form. */
    interface Reader {
        Schema schema(int row);

        Object value(int row);
    }

    static Reader read(JsonNode said, int rows, Iterator<ByteBuffer> buffers, Schemas known) {
        String kind = said.get("kind").asText();
        if (kind.equals("values")) return valueByValue(rows, buffers, known);
        boolean isSchemaless = kind.equals("schemaless");
        Schema schema = known.numbered(said.get("schema").asInt());
        ColumnReader column = ColumnReader.of(schema, buffers, isSchemaless);
        return new Reader() {
            @Override
            public Schema schema(int row) {
                return isSchemaless ? null : schema;
            }

            @Override
            public Object value(int row) {
                return column.get(row);
            }
        };
    }

    private static Reader valueByValue(int rows, Iterator<ByteBuffer> buffers, Schemas known) {
        ByteBuffer numbers = buffers.next();
        ByteBuffer data = buffers.next();
        Object[] values = new Object[rows];
        for (int i = 0; i < rows; i++) values[i] = Values.read(data, known::numbered);
        return new Reader() {
            @Override
            public Schema schema(int row) {
                return known.numbered(numbers.getInt(4 * row));
            }

            @Override
            public Object value(int row) {
                return values[row];
            }
        };
    }
}
