package connectcore;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.Decimal;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.Struct;

/** Values of one schema as Arrow's buffers, in the order of a walk through the type from its root. */
abstract class ColumnWriter {
    /** Says that a value has no place in the column: the batch then crosses value by value. */
    static final class CannotSay extends RuntimeException {
        private static final long serialVersionUID = 1;

        CannotSay(String message) {
            super(message, null, false, false);
        }
    }

    private static final long DAY = 86_400_000L;

    final Validity validity = new Validity();
    private final boolean isRequired;

    ColumnWriter(Schema schema) {
        isRequired = schema != null && !schema.isOptional() && schema.defaultValue() == null;
    }

    final void add(Object value) {
        if (value == null) {
            if (isRequired) throw new CannotSay("a null stands where a value is required");
            absent();
            return;
        }
        validity.add(true);
        try {
            put(value);
        } catch (ClassCastException error) {
            throw new CannotSay(error.getMessage());
        }
    }

    /** Adds a null, or the place of a part whose parent is null. */
    final void absent() {
        validity.add(false);
        skip();
    }

    abstract void put(Object value);

    abstract void skip();

    abstract void finish(List<ByteBuffer> buffers);

    static ColumnWriter of(Schema schema) {
        if (schema == null) return new Nulls();
        if (schema.name() != null) {
            ColumnWriter logical = logical(schema);
            if (logical != null) return logical;
        }
        return switch (schema.type()) {
            case INT8, INT16, INT32, INT64, FLOAT32, FLOAT64 -> new Numbers(schema);
            case BOOLEAN -> new Booleans(schema);
            case STRING, BYTES -> new Binaries(schema);
            case STRUCT -> new Structs(schema);
            case ARRAY -> new Lists(schema);
            case MAP -> new Maps(schema);
        };
    }

    private static ColumnWriter logical(Schema schema) {
        return switch (schema.name()) {
            case "org.apache.kafka.connect.data.Decimal" ->
                schema.type() == Schema.Type.BYTES ? new Decimals(schema) : null;
            case "org.apache.kafka.connect.data.Date",
                    "org.apache.kafka.connect.data.Time",
                    "org.apache.kafka.connect.data.Timestamp" -> new Dates(schema);
            default -> null;
        };
    }

    private static final class Nulls extends ColumnWriter {
        Nulls() {
            super(null);
        }

        @Override
        void put(Object value) {
            throw new CannotSay("a value stands where no schema describes it");
        }

        @Override
        void skip() {}

        @Override
        void finish(List<ByteBuffer> buffers) {}
    }

    private static final class Numbers extends ColumnWriter {
        private final Out data = new Out();
        private final Schema.Type type;

        Numbers(Schema schema) {
            super(schema);
            type = schema.type();
        }

        @Override
        void put(Object value) {
            switch (type) {
                case INT8 -> data.putByte((Byte) value);
                case INT16 -> data.putShort((Short) value);
                case INT32 -> data.putInt((Integer) value);
                case INT64 -> data.putLong((Long) value);
                case FLOAT32 -> data.putInt(Float.floatToRawIntBits((Float) value));
                default -> data.putLong(Double.doubleToRawLongBits((Double) value));
            }
        }

        @Override
        void skip() {
            data.fill(switch (type) {
                case INT8 -> 1;
                case INT16 -> 2;
                case INT32, FLOAT32 -> 4;
                default -> 8;
            }, 0);
        }

        @Override
        void finish(List<ByteBuffer> buffers) {
            buffers.add(validity.done());
            buffers.add(data.done());
        }
    }

    private static final class Dates extends ColumnWriter {
        private final Out data = new Out();
        private final boolean isLong;
        private final boolean isDate;

        Dates(Schema schema) {
            super(schema);
            isDate = schema.name().endsWith(".Date");
            isLong = schema.name().endsWith(".Timestamp");
            if ((schema.type() == Schema.Type.INT64) != isLong || (!isLong && schema.type() != Schema.Type.INT32)) {
                throw new CannotSay("the type of " + schema.name() + " is " + schema.type());
            }
        }

        @Override
        void put(Object value) {
            long millis = ((Date) value).getTime();
            if (isLong) {
                data.putLong(millis);
            } else if (isDate) {
                if (millis % DAY != 0) throw new CannotSay("a date is not at midnight");
                data.putInt((int) (millis / DAY));
            } else {
                if (millis < 0 || millis >= DAY) throw new CannotSay("a time is not within a day");
                data.putInt((int) millis);
            }
        }

        @Override
        void skip() {
            data.fill(isLong ? 8 : 4, 0);
        }

        @Override
        void finish(List<ByteBuffer> buffers) {
            buffers.add(validity.done());
            buffers.add(data.done());
        }
    }

    private static final class Booleans extends ColumnWriter {
        private final Out bits = new Out();
        private int size;

        Booleans(Schema schema) {
            super(schema);
        }

        @Override
        void put(Object value) {
            skip();
            if ((Boolean) value) bits.setBit(size - 1);
        }

        @Override
        void skip() {
            if (size >> 3 >= bits.size()) bits.putByte(0);
            size++;
        }

        @Override
        void finish(List<ByteBuffer> buffers) {
            buffers.add(validity.done());
            buffers.add(bits.done());
        }
    }

    private static final class Binaries extends ColumnWriter {
        private final Out offsets = new Out();
        private final Out data = new Out();
        private final boolean isText;

        Binaries(Schema schema) {
            super(schema);
            isText = schema.type() == Schema.Type.STRING;
            offsets.putInt(0);
        }

        @Override
        void put(Object value) {
            if (isText) data.put(((String) value).getBytes(StandardCharsets.UTF_8));
            else if (value instanceof byte[] bytes) data.put(bytes);
            else throw new CannotSay("a buffer is no byte array");
            skip();
        }

        @Override
        void skip() {
            offsets.putInt(data.size());
        }

        @Override
        void finish(List<ByteBuffer> buffers) {
            buffers.add(validity.done());
            buffers.add(offsets.done());
            buffers.add(data.done());
        }
    }

    /** Decimals of 38 digits in 16 bytes, of 76 in 32 for larger scales, else their unscaled bytes. */
    private static final class Decimals extends ColumnWriter {
        private final Out offsets = new Out();
        private final Out data = new Out();
        private final int scale;
        private final int digits;

        Decimals(Schema schema) {
            super(schema);
            String found = schema.parameters() == null ? null : schema.parameters().get(Decimal.SCALE_FIELD);
            if (found == null) throw new CannotSay("a decimal has no scale");
            try {
                scale = Integer.parseInt(found);
            } catch (NumberFormatException error) {
                throw new CannotSay("a decimal's scale is " + found);
            }
            digits = scale < 0 || scale > 76 ? 0 : scale <= 38 ? 38 : 76;
            if (digits == 0) offsets.putInt(0);
        }

        @Override
        void put(Object value) {
            BigDecimal decimal = (BigDecimal) value;
            if (decimal.scale() != scale) throw new CannotSay("a decimal has another scale than its schema");
            BigInteger unscaled = decimal.unscaledValue();
            byte[] bytes = unscaled.toByteArray();
            if (digits == 0) {
                data.put(bytes);
                offsets.putInt(data.size());
                return;
            }
            if (decimal.precision() > digits) throw new CannotSay("a decimal has more digits than a column takes");
            for (int i = bytes.length - 1; i >= 0; i--) data.putByte(bytes[i]);
            data.fill(width() - bytes.length, unscaled.signum() < 0 ? 0xff : 0);
        }

        @Override
        void skip() {
            if (digits == 0) offsets.putInt(data.size());
            else data.fill(width(), 0);
        }

        private int width() {
            return digits == 38 ? 16 : 32;
        }

        @Override
        void finish(List<ByteBuffer> buffers) {
            buffers.add(validity.done());
            if (digits == 0) buffers.add(offsets.done());
            buffers.add(data.done());
        }
    }

    private static final class Structs extends ColumnWriter {
        private final Schema schema;
        private final List<Field> fields;
        private final List<ColumnWriter> parts = new ArrayList<>();

        Structs(Schema schema) {
            super(schema);
            this.schema = schema;
            fields = schema.fields();
            for (Field field : fields) parts.add(of(field.schema()));
        }

        @Override
        void put(Object value) {
            if (value instanceof Map<?, ?> map) {
                putMap(map);
                return;
            }
            Struct struct = (Struct) value;
            if (struct.schema() != schema && !struct.schema().equals(schema)) {
                throw new CannotSay("a struct has another schema");
            }
            for (int i = 0; i < parts.size(); i++) parts.get(i).add(struct.getWithoutDefault(fields.get(i).name()));
        }

        /** Adds a schemaless map, whose keys are the fields in their order. */
        private void putMap(Map<?, ?> map) {
            if (map.size() != parts.size()) throw new CannotSay("a map has other keys");
            int i = 0;
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                if (!fields.get(i).name().equals(entry.getKey())) throw new CannotSay("a map has other keys");
                parts.get(i++).add(entry.getValue());
            }
        }

        @Override
        void skip() {
            for (ColumnWriter part : parts) part.absent();
        }

        @Override
        void finish(List<ByteBuffer> buffers) {
            buffers.add(validity.done());
            for (ColumnWriter part : parts) part.finish(buffers);
        }
    }

    private static final class Lists extends ColumnWriter {
        private final Out offsets = new Out();
        private final ColumnWriter items;
        private int size;

        Lists(Schema schema) {
            super(schema);
            items = of(schema.valueSchema());
            offsets.putInt(0);
        }

        @Override
        void put(Object value) {
            List<?> list = (List<?>) value;
            for (Object item : list) items.add(item);
            size += list.size();
            skip();
        }

        @Override
        void skip() {
            offsets.putInt(size);
        }

        @Override
        void finish(List<ByteBuffer> buffers) {
            buffers.add(validity.done());
            buffers.add(offsets.done());
            items.finish(buffers);
        }
    }

    /** Maps as lists of entries; their keys and values are columns of their own. */
    private static final class Maps extends ColumnWriter {
        private static final ByteBuffer ALL_VALID = ByteBuffer.allocate(0);

        private final Out offsets = new Out();
        private final ColumnWriter keys;
        private final ColumnWriter values;
        private int size;

        Maps(Schema schema) {
            super(schema);
            keys = of(schema.keySchema());
            values = of(schema.valueSchema());
            offsets.putInt(0);
        }

        @Override
        void put(Object value) {
            Map<?, ?> map = (Map<?, ?>) value;
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                keys.add(entry.getKey());
                values.add(entry.getValue());
            }
            size += map.size();
            skip();
        }

        @Override
        void skip() {
            offsets.putInt(size);
        }

        @Override
        void finish(List<ByteBuffer> buffers) {
            buffers.add(validity.done());
            buffers.add(offsets.done());
            buffers.add(ALL_VALID);
            keys.finish(buffers);
            values.finish(buffers);
        }
    }
}
