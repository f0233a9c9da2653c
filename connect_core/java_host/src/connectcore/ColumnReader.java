package connectcore;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Date;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.Decimal;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.Struct;

/** The values of Arrow's buffers, laid out as ColumnWriter does; structs of schemaless data are maps. */
abstract class ColumnReader {
    private static final long DAY = 86_400_000L;

    private final ByteBuffer validity;

    ColumnReader(ByteBuffer validity) {
        this.validity = validity;
    }

    final Object get(int row) {
        return isValid(row) ? value(row) : null;
    }

    final boolean isValid(int row) {
        return validity.limit() == 0 || (validity.get(row >> 3) >> (row & 7) & 1) != 0;
    }

    abstract Object value(int row);

    static ColumnReader of(Schema schema, Iterator<ByteBuffer> buffers, boolean isSchemaless) {
        if (schema == null) return new Nulls();
        if (schema.name() != null) {
            switch (schema.name()) {
                case "org.apache.kafka.connect.data.Decimal" -> {
                    if (schema.type() == Schema.Type.BYTES) return new Decimals(schema, buffers);
                }
                case "org.apache.kafka.connect.data.Date",
                        "org.apache.kafka.connect.data.Time",
                        "org.apache.kafka.connect.data.Timestamp" -> {
                    return new Dates(schema, buffers);
                }
                default -> { }
            }
        }
        return switch (schema.type()) {
            case INT8, INT16, INT32, INT64, FLOAT32, FLOAT64 -> new Numbers(schema.type(), buffers);
            case BOOLEAN -> new Booleans(buffers);
            case STRING -> new Texts(buffers);
            case BYTES -> new Binaries(buffers);
            case STRUCT -> new Structs(schema, buffers, isSchemaless);
            case ARRAY -> new Lists(schema, buffers, isSchemaless);
            case MAP -> new Maps(schema, buffers, isSchemaless);
        };
    }

    private static final class Nulls extends ColumnReader {
        Nulls() {
            super(ByteBuffer.allocate(0));
        }

        @Override
        Object value(int row) {
            return null;
        }
    }

    private static final class Numbers extends ColumnReader {
        private final Schema.Type type;
        private final ByteBuffer data;

        Numbers(Schema.Type type, Iterator<ByteBuffer> buffers) {
            super(buffers.next());
            this.type = type;
            data = buffers.next();
        }

        @Override
        Object value(int row) {
            return switch (type) {
                case INT8 -> data.get(row);
                case INT16 -> data.getShort(2 * row);
                case INT32 -> data.getInt(4 * row);
                case INT64 -> data.getLong(8 * row);
                case FLOAT32 -> data.getFloat(4 * row);
                default -> data.getDouble(8 * row);
            };
        }
    }

    private static final class Dates extends ColumnReader {
        private final boolean isLong;
        private final long unit;
        private final ByteBuffer data;

        Dates(Schema schema, Iterator<ByteBuffer> buffers) {
            super(buffers.next());
            data = buffers.next();
            isLong = schema.type() == Schema.Type.INT64;
            unit = schema.name().endsWith(".Date") ? DAY : 1;
        }

        @Override
        Object value(int row) {
            return new Date(isLong ? data.getLong(8 * row) : data.getInt(4 * row) * unit);
        }
    }

    private static final class Booleans extends ColumnReader {
        private final ByteBuffer bits;

        Booleans(Iterator<ByteBuffer> buffers) {
            super(buffers.next());
            bits = buffers.next();
        }

        @Override
        Object value(int row) {
            return (bits.get(row >> 3) >> (row & 7) & 1) != 0;
        }
    }

    /** Byte arrays, by themselves or in what is made of them. */
    static class Binaries extends ColumnReader {
        private final ByteBuffer offsets;
        private final ByteBuffer data;

        Binaries(Iterator<ByteBuffer> buffers) {
            super(buffers.next());
            offsets = buffers.next();
            data = buffers.next();
        }

        final byte[] bytes(int row) {
            int start = offsets.getInt(4 * row);
            byte[] found = new byte[offsets.getInt(4 * row + 4) - start];
            data.get(start, found);
            return found;
        }

        @Override
        Object value(int row) {
            return bytes(row);
        }
    }

    private static final class Texts extends Binaries {
        Texts(Iterator<ByteBuffer> buffers) {
            super(buffers);
        }

        @Override
        Object value(int row) {
            return new String(bytes(row), StandardCharsets.UTF_8);
        }
    }

    private static final class Decimals extends ColumnReader {
        private final int scale;
        private final int width;
        private final ByteBuffer offsets;
        private final ByteBuffer data;

        Decimals(Schema schema, Iterator<ByteBuffer> buffers) {
            super(buffers.next());
            scale = Integer.parseInt(schema.parameters().get(Decimal.SCALE_FIELD));
            width = scale < 0 || scale > 76 ? 0 : scale <= 38 ? 16 : 32;
            offsets = width == 0 ? buffers.next() : null;
            data = buffers.next();
        }

        @Override
        Object value(int row) {
            byte[] bytes;
            if (width == 0) {
                int start = offsets.getInt(4 * row);
                bytes = new byte[offsets.getInt(4 * row + 4) - start];
                data.get(start, bytes);
            } else {
                bytes = new byte[width];
                for (int i = 0; i < width; i++) bytes[width - 1 - i] = data.get(width * row + i);
            }
            return new BigDecimal(new BigInteger(bytes), scale);
        }
    }

    private static final class Structs extends ColumnReader {
        private final Schema schema;
        private final boolean isSchemaless;
        private final List<ColumnReader> parts = new ArrayList<>();

        Structs(Schema schema, Iterator<ByteBuffer> buffers, boolean isSchemaless) {
            super(buffers.next());
            this.schema = schema;
            this.isSchemaless = isSchemaless;
            for (Field field : schema.fields()) parts.add(of(field.schema(), buffers, isSchemaless));
        }

        @Override
        Object value(int row) {
            List<Field> fields = schema.fields();
            if (isSchemaless) {
                Map<String, Object> map = new LinkedHashMap<>(2 * parts.size());
                for (int i = 0; i < parts.size(); i++) map.put(fields.get(i).name(), parts.get(i).get(row));
                return map;
            }
            Struct struct = new Struct(schema);
            for (int i = 0; i < parts.size(); i++) {
                Object found = parts.get(i).get(row);
                if (found != null) struct.put(fields.get(i), found);
            }
            return struct;
        }
    }

    private static final class Lists extends ColumnReader {
        private final ByteBuffer offsets;
        private final ColumnReader items;

        Lists(Schema schema, Iterator<ByteBuffer> buffers, boolean isSchemaless) {
            super(buffers.next());
            offsets = buffers.next();
            items = of(schema.valueSchema(), buffers, isSchemaless);
        }

        @Override
        Object value(int row) {
            int start = offsets.getInt(4 * row);
            int end = offsets.getInt(4 * row + 4);
            List<Object> list = new ArrayList<>(end - start);
            for (int i = start; i < end; i++) list.add(items.get(i));
            return list;
        }
    }

    private static final class Maps extends ColumnReader {
        private final ByteBuffer offsets;
        private final ColumnReader keys;
        private final ColumnReader values;

        Maps(Schema schema, Iterator<ByteBuffer> buffers, boolean isSchemaless) {
            super(buffers.next());
            offsets = buffers.next();
            buffers.next();
            keys = of(schema.keySchema(), buffers, isSchemaless);
            values = of(schema.valueSchema(), buffers, isSchemaless);
        }

        @Override
        Object value(int row) {
            int start = offsets.getInt(4 * row);
            int end = offsets.getInt(4 * row + 4);
            Map<Object, Object> map = new LinkedHashMap<>();
            for (int i = start; i < end; i++) map.put(keys.get(i), values.get(i));
            return map;
        }
    }
}
