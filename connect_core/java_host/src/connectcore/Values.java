package connectcore;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.errors.DataException;

/** Values one by one, each behind a tag that says what it is: for what no column can hold. */
final class Values {
    private static final int NULL = 0;
    private static final int FALSE = 1;
    private static final int TRUE = 2;
    private static final int INT8 = 3;
    private static final int INT16 = 4;
    private static final int INT32 = 5;
    private static final int INT64 = 6;
    private static final int FLOAT32 = 7;
    private static final int FLOAT64 = 8;
    private static final int STRING = 9;
    private static final int BYTES = 10;
    private static final int LIST = 11;
    private static final int MAP = 12;
    private static final int STRUCT = 13;
    private static final int DATE = 14;
    private static final int DECIMAL = 15;
    private static final int INTEGER = 16;
    private static final int BUFFER = 17;

    /** Names the schema of a struct in a frame. */
    interface SchemaNumbers {
        int numberOf(Schema schema);
    }

    /** Finds the schema of a struct. */
    interface NumberedSchemas {
        Schema numbered(int number);
    }

    private Values() {}

    static void write(Out out, Object value, SchemaNumbers schemas) {
        if (value == null) out.putByte(NULL);
        else if (value instanceof String text) writeBytes(out, STRING, text.getBytes(StandardCharsets.UTF_8));
        else if (value instanceof Boolean flag) out.putByte(flag ? TRUE : FALSE);
        else if (value instanceof Number number) writeNumber(out, number);
        else if (value instanceof byte[] bytes) writeBytes(out, BYTES, bytes);
        else if (value instanceof Struct struct) writeStruct(out, struct, schemas);
        else if (value instanceof Map<?, ?> map) writeMap(out, map, schemas);
        else if (value instanceof List<?> list) writeList(out, list, schemas);
        else writeRare(out, value);
    }

    private static void writeNumber(Out out, Number number) {
        if (number instanceof Integer) {
            out.putByte(INT32);
            out.putInt(number.intValue());
        } else if (number instanceof Long) {
            out.putByte(INT64);
            out.putLong(number.longValue());
        } else if (number instanceof Double) {
            out.putByte(FLOAT64);
            out.putLong(Double.doubleToRawLongBits(number.doubleValue()));
        } else if (number instanceof Float) {
            out.putByte(FLOAT32);
            out.putInt(Float.floatToRawIntBits(number.floatValue()));
        } else if (number instanceof Byte) {
            out.putByte(INT8);
            out.putByte(number.byteValue());
        } else if (number instanceof Short) {
            out.putByte(INT16);
            out.putShort(number.shortValue());
        } else if (number instanceof BigDecimal decimal) {
            byte[] unscaled = decimal.unscaledValue().toByteArray();
            out.putByte(DECIMAL);
            out.putInt(decimal.scale());
            out.putInt(unscaled.length);
            out.put(unscaled);
        } else if (number instanceof BigInteger integer) {
            writeBytes(out, INTEGER, integer.toByteArray());
        } else {
            throw new DataException("A value of " + number.getClass().getName() + " cannot leave the Java host");
        }
    }

    private static void writeRare(Out out, Object value) {
        if (value instanceof ByteBuffer buffer) {
            out.putByte(BUFFER);
            out.putInt(buffer.remaining());
            out.put(buffer);
        } else if (value instanceof Date date) {
            out.putByte(DATE);
            out.putLong(date.getTime());
        } else {
            throw new DataException("A value of " + value.getClass().getName() + " cannot leave the Java host");
        }
    }

    private static void writeStruct(Out out, Struct struct, SchemaNumbers schemas) {
        out.putByte(STRUCT);
        out.putInt(schemas.numberOf(struct.schema()));
        for (Field field : struct.schema().fields()) write(out, struct.getWithoutDefault(field.name()), schemas);
    }

    private static void writeMap(Out out, Map<?, ?> map, SchemaNumbers schemas) {
        out.putByte(MAP);
        out.putInt(map.size());
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            write(out, entry.getKey(), schemas);
            write(out, entry.getValue(), schemas);
        }
    }

    private static void writeList(Out out, List<?> list, SchemaNumbers schemas) {
        out.putByte(LIST);
        out.putInt(list.size());
        for (Object item : list) write(out, item, schemas);
    }

    private static void writeBytes(Out out, int tag, byte[] bytes) {
        out.putByte(tag);
        out.putInt(bytes.length);
        out.put(bytes);
    }

    static Object read(ByteBuffer in, NumberedSchemas schemas) {
        int tag = in.get();
        return switch (tag) {
            case NULL -> null;
            case FALSE -> false;
            case TRUE -> true;
            case INT8 -> in.get();
            case INT16 -> in.getShort();
            case INT32 -> in.getInt();
            case INT64 -> in.getLong();
            case FLOAT32 -> Float.intBitsToFloat(in.getInt());
            case FLOAT64 -> Double.longBitsToDouble(in.getLong());
            case STRING -> new String(bytes(in), StandardCharsets.UTF_8);
            case BYTES -> bytes(in);
            case BUFFER -> ByteBuffer.wrap(bytes(in));
            case INTEGER -> new BigInteger(bytes(in));
            case DATE -> new Date(in.getLong());
            case DECIMAL -> {
                int scale = in.getInt();
                yield new BigDecimal(new BigInteger(bytes(in)), scale);
            }
            case LIST -> {
                int size = in.getInt();
                List<Object> list = new ArrayList<>(size);
                for (int i = 0; i < size; i++) list.add(read(in, schemas));
                yield list;
            }
            case MAP -> {
                int size = in.getInt();
                Map<Object, Object> map = new LinkedHashMap<>();
                for (int i = 0; i < size; i++) {
                    Object key = read(in, schemas);
                    map.put(key, read(in, schemas));
                }
                yield map;
            }
            case STRUCT -> {
                Struct struct = new Struct(schemas.numbered(in.getInt()));
                for (Field field : struct.schema().fields()) {
                    Object found = read(in, schemas);
                    // A field that is not set has its default; put refuses null where it is not optional.
                    if (found != null) struct.put(field, found);
                }
                yield struct;
            }
            default -> throw new IllegalStateException("There is no value of tag " + tag);
        };
    }

    private static byte[] bytes(ByteBuffer in) {
        byte[] found = new byte[in.getInt()];
        in.get(found);
        return found;
    }

    /** Returns a schema's default on its own; a struct in it names its schema by its place among the schema's parts. */
    static byte[] toBytes(Object value, Schema schema) {
        Out out = new Out(64);
        write(out, value, structsOf(schema, new ArrayList<>())::indexOf);
        ByteBuffer done = out.done();
        byte[] found = new byte[done.remaining()];
        done.get(found);
        return found;
    }

    static Object ofBytes(byte[] bytes, Schema schema) {
        List<Schema> structs = structsOf(schema, new ArrayList<>());
        return read(ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN), structs::get);
    }

    /** Returns the struct schemas among a schema and its parts, in the order of a walk from its root. */
    private static List<Schema> structsOf(Schema schema, List<Schema> found) {
        if (schema == null) return found;
        switch (schema.type()) {
            case STRUCT -> {
                found.add(schema);
                for (Field field : schema.fields()) structsOf(field.schema(), found);
            }
            case MAP -> {
                structsOf(schema.keySchema(), found);
                structsOf(schema.valueSchema(), found);
            }
            case ARRAY -> structsOf(schema.valueSchema(), found);
            default -> { }
        }
        return found;
    }
}
