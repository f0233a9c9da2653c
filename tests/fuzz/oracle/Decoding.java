import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.types.Password;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.header.ConnectHeaders;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.source.SourceRecord;

/** From a case's JSON to what Connect takes. */
final class Decoding {
    private Decoding() {}

    static Map<String, Object> config(JsonNode content) {
        Map<String, Object> config = new HashMap<>();
        for (Iterator<Map.Entry<String, JsonNode>> i = content.fields(); i.hasNext(); ) {
            Map.Entry<String, JsonNode> one = i.next();
            config.put(one.getKey(), value(one.getValue(), null));
        }
        return config;
    }

    static Schema schema(JsonNode content) {
        if (content == null || content.isNull()) {
            return null;
        }
        Schema.Type type = Schema.Type.valueOf(content.get("type").asText().toUpperCase(java.util.Locale.ROOT));
        SchemaBuilder builder;
        if (type == Schema.Type.ARRAY) {
            builder = SchemaBuilder.array(schema(content.get("valueSchema")));
        } else if (type == Schema.Type.MAP) {
            builder = SchemaBuilder.map(schema(content.get("keySchema")), schema(content.get("valueSchema")));
        } else {
            builder = new SchemaBuilder(type);
        }
        if (content.get("optional").asBoolean()) {
            builder.optional();
        }
        if (content.hasNonNull("name")) {
            builder.name(content.get("name").asText());
        }
        if (content.hasNonNull("version")) {
            builder.version(content.get("version").asInt());
        }
        if (content.hasNonNull("doc")) {
            builder.doc(content.get("doc").asText());
        }
        if (content.hasNonNull("parameters")) {
            content.get("parameters").fields().forEachRemaining(
                one -> builder.parameter(one.getKey(), one.getValue().asText()));
        }
        if (content.has("fields")) {
            content.get("fields").forEach(field -> builder.field(field.get("name").asText(), schema(field.get("schema"))));
        }
        if (content.hasNonNull("default")) {
            builder.defaultValue(value(content.get("default"), builder));
        }
        return builder.build();
    }

    static Object value(JsonNode content, Schema schema) {
        if (content == null || content.isNull()) {
            return null;
        }
        if (content.isBoolean()) {
            return content.asBoolean();
        }
        if (content.isTextual()) {
            return content.asText();
        }
        if (content.isArray()) {
            Schema element = schema != null && schema.type() == Schema.Type.ARRAY ? schema.valueSchema() : null;
            List<Object> items = new ArrayList<>();
            content.forEach(item -> items.add(value(item, element)));
            return items;
        }
        if (content.has("@struct")) {
            return struct(content, schema);
        }
        Map.Entry<String, JsonNode> tagged = content.fields().next();
        boolean isMap = schema != null && schema.type() == Schema.Type.MAP;
        Schema keys = isMap ? schema.keySchema() : null;
        Schema values = isMap ? schema.valueSchema() : null;
        JsonNode body = tagged.getValue();
        switch (tagged.getKey()) {
            case "@map": {
                Map<Object, Object> pairs = new LinkedHashMap<>();
                body.fields().forEachRemaining(one -> pairs.put(one.getKey(), value(one.getValue(), values)));
                return pairs;
            }
            case "@pairs": {
                Map<Object, Object> pairs = new LinkedHashMap<>();
                body.forEach(pair -> pairs.put(value(pair.get(0), keys), value(pair.get(1), values)));
                return pairs;
            }
            case "@int8": return (byte) body.asInt();
            case "@int16": return (short) body.asInt();
            case "@int32": return body.asInt();
            case "@int64": return body.asLong();
            case "@float32": return Float.parseFloat(body.asText());
            case "@float64": return Double.parseDouble(body.asText());
            case "@decimal": return new BigDecimal(body.asText());
            case "@bigint": return new BigInteger(body.asText());
            case "@bytes": return Base64.getDecoder().decode(body.asText());
            case "@bytebuffer": return ByteBuffer.wrap(Base64.getDecoder().decode(body.asText()));
            case "@date": return new java.util.Date(body.asLong());
            case "@password": return new Password(body.asText());
            default: return new Object();
        }
    }

    private static Struct struct(JsonNode content, Schema declared) {
        Struct struct = new Struct(content.has("@schema") ? schema(content.get("@schema")) : declared);
        content.get("@struct").fields().forEachRemaining(one -> {
            Field field = struct.schema().field(one.getKey());
            if (!one.getValue().isNull()) {
                struct.put(one.getKey(), value(one.getValue(), field == null ? null : field.schema()));
            }
        });
        return struct;
    }

    static ConnectRecord<?> record(JsonNode content) {
        Schema keySchema = schema(content.get("keySchema"));
        Schema valueSchema = schema(content.get("valueSchema"));
        Object key = value(content.get("key"), keySchema);
        Object value = value(content.get("value"), valueSchema);
        ConnectHeaders headers = new ConnectHeaders();
        for (JsonNode header : content.get("headers")) {
            Schema own = schema(header.get("schema"));
            headers.add(header.get("key").asText(), value(header.get("value"), own), own);
        }
        String topic = content.get("topic").isNull() ? null : content.get("topic").asText();
        Integer partition = content.get("kafkaPartition").isNull() ? null : content.get("kafkaPartition").asInt();
        Long timestamp = content.get("timestamp").isNull() ? null : content.get("timestamp").asLong();
        if (content.get("record").asText().equals("sink")) {
            return new SinkRecord(topic, partition == null ? 0 : partition, keySchema, key, valueSchema, value,
                content.get("kafkaOffset").asLong(), timestamp,
                TimestampType.forName(content.get("timestampType").asText()), headers);
        }
        return new SourceRecord(map(content.get("sourcePartition")), map(content.get("sourceOffset")), topic, partition,
            keySchema, key, valueSchema, value, timestamp, headers);
    }

    @SuppressWarnings("unchecked")
    private static Map<String, ?> map(JsonNode content) {
        return (Map<String, ?>) value(content, null);
    }
}
