import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.BooleanNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.apache.kafka.common.config.types.Password;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.source.SourceRecord;

/** From what Connect gives to a case's JSON. */
final class Encoding {
    private Encoding() {}

    static JsonNode data(SchemaAndValue data) {
        if (data == null) {
            return NullNode.instance;
        }
        ObjectNode answer = Oracle.JSON.createObjectNode();
        answer.set("schema", schema(data.schema()));
        answer.set("value", value(data.schema(), data.value()));
        return answer;
    }

    static JsonNode schema(Schema schema) {
        if (schema == null) {
            return NullNode.instance;
        }
        ObjectNode answer = Oracle.JSON.createObjectNode();
        answer.put("type", schema.type().name().toLowerCase(Locale.ROOT));
        answer.put("optional", schema.isOptional());
        if (schema.name() != null) {
            answer.put("name", schema.name());
        }
        if (schema.version() != null) {
            answer.put("version", schema.version());
        }
        if (schema.doc() != null) {
            answer.put("doc", schema.doc());
        }
        if (schema.parameters() != null && !schema.parameters().isEmpty()) {
            ObjectNode parameters = answer.putObject("parameters");
            new TreeMap<>(schema.parameters()).forEach(parameters::put);
        }
        if (schema.defaultValue() != null) {
            answer.set("default", value(schema, schema.defaultValue()));
        }
        if (schema.type() == Schema.Type.STRUCT) {
            ArrayNode fields = answer.putArray("fields");
            for (Field field : schema.fields()) {
                ObjectNode one = fields.addObject();
                one.put("name", field.name());
                one.set("schema", schema(field.schema()));
            }
        }
        if (schema.type() == Schema.Type.MAP) {
            answer.set("keySchema", schema(schema.keySchema()));
        }
        if (schema.type() == Schema.Type.MAP || schema.type() == Schema.Type.ARRAY) {
            answer.set("valueSchema", schema(schema.valueSchema()));
        }
        return answer;
    }

    static JsonNode value(Schema schema, Object value) {
        if (value == null) {
            return NullNode.instance;
        }
        if (value instanceof Boolean) {
            return BooleanNode.valueOf((Boolean) value);
        }
        if (value instanceof String) {
            return TextNode.valueOf((String) value);
        }
        if (value instanceof List) {
            Schema element = schema != null && schema.type() == Schema.Type.ARRAY ? schema.valueSchema() : null;
            ArrayNode items = Oracle.JSON.createArrayNode();
            ((List<?>) value).forEach(item -> items.add(value(element, item)));
            return items;
        }
        ObjectNode answer = Oracle.JSON.createObjectNode();
        if (value instanceof Map) {
            pairs(answer, schema, (Map<?, ?>) value);
        } else if (value instanceof Struct) {
            struct(answer, schema, (Struct) value);
        } else {
            scalar(answer, value);
        }
        return answer;
    }

    private static void pairs(ObjectNode answer, Schema schema, Map<?, ?> map) {
        boolean isMap = schema != null && schema.type() == Schema.Type.MAP;
        Schema keys = isMap ? schema.keySchema() : null;
        Schema values = isMap ? schema.valueSchema() : null;
        if (map.keySet().stream().allMatch(key -> key instanceof String)) {
            ObjectNode pairs = answer.putObject("@map");
            map.forEach((key, item) -> pairs.set((String) key, value(values, item)));
            return;
        }
        ArrayNode pairs = answer.putArray("@pairs");
        map.forEach((key, item) -> pairs.addArray().add(value(keys, key)).add(value(values, item)));
    }

    private static void struct(ObjectNode answer, Schema declared, Struct struct) {
        ObjectNode fields = answer.putObject("@struct");
        for (Field field : struct.schema().fields()) {
            fields.set(field.name(), value(field.schema(), struct.getWithoutDefault(field.name())));
        }
        if (!Objects.equals(struct.schema(), declared)) {
            answer.set("@schema", schema(struct.schema()));
        }
    }

    private static void scalar(ObjectNode answer, Object value) {
        if (value instanceof Byte) {
            answer.put("@int8", (Byte) value);
        } else if (value instanceof Short) {
            answer.put("@int16", (Short) value);
        } else if (value instanceof Integer) {
            answer.put("@int32", (Integer) value);
        } else if (value instanceof Long) {
            answer.put("@int64", (Long) value);
        } else if (value instanceof Float || value instanceof Double) {
            floating(answer, (Number) value);
        } else if (value instanceof BigDecimal) {
            answer.put("@decimal", value.toString());
        } else if (value instanceof BigInteger) {
            answer.put("@bigint", value.toString());
        } else if (value instanceof byte[]) {
            answer.put("@bytes", Base64.getEncoder().encodeToString((byte[]) value));
        } else if (value instanceof ByteBuffer) {
            ByteBuffer copy = ((ByteBuffer) value).duplicate();
            byte[] bytes = new byte[copy.remaining()];
            copy.get(bytes);
            answer.put("@bytes", Base64.getEncoder().encodeToString(bytes));
        } else if (value instanceof java.util.Date) {
            answer.put("@date", ((java.util.Date) value).getTime());
        } else if (value instanceof Password) {
            answer.put("@password", ((Password) value).value());
        } else if (value instanceof Class) {
            answer.put("@class", ((Class<?>) value).getName());
        } else {
            answer.put("@object", true);
        }
    }

    private static void floating(ObjectNode answer, Number value) {
        String tag = value instanceof Float ? "@float32" : "@float64";
        double number = value.doubleValue();
        if (Double.isNaN(number) || Double.isInfinite(number)) {
            answer.put(tag, value.toString());
        } else if (value instanceof Float) {
            answer.put(tag, (Float) value);
        } else {
            answer.put(tag, number);
        }
    }

    static JsonNode record(ConnectRecord<?> record) {
        if (record == null) {
            return NullNode.instance;
        }
        ObjectNode answer = Oracle.JSON.createObjectNode();
        answer.put("topic", record.topic());
        answer.put("kafkaPartition", record.kafkaPartition());
        answer.set("keySchema", schema(record.keySchema()));
        answer.set("key", value(record.keySchema(), record.key()));
        answer.set("valueSchema", schema(record.valueSchema()));
        answer.set("value", value(record.valueSchema(), record.value()));
        answer.put("timestamp", record.timestamp());
        ArrayNode headers = answer.putArray("headers");
        for (Header header : record.headers()) {
            ObjectNode one = headers.addObject();
            one.put("key", header.key());
            one.set("schema", schema(header.schema()));
            one.set("value", value(header.schema(), header.value()));
        }
        if (record instanceof SinkRecord) {
            SinkRecord sink = (SinkRecord) record;
            answer.put("record", "sink");
            answer.put("kafkaOffset", sink.kafkaOffset());
            answer.put("timestampType", sink.timestampType().toString());
        } else {
            SourceRecord source = (SourceRecord) record;
            answer.put("record", "source");
            answer.set("sourcePartition", value(null, source.sourcePartition()));
            answer.set("sourceOffset", value(null, source.sourceOffset()));
        }
        return answer;
    }
}
