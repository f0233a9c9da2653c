package connectcore;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.ConnectSchema;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;

/**
 * The schemas one conversation has named: each is sent once, and known by its number afterwards.
 *
 * Those of either side have numbers of their own.
 */
final class Schemas {
    private static final int MOST_REMEMBERED = 10_000;

    private final Map<Schema, Integer> byIdentity = new IdentityHashMap<>();
    private final Map<Schema, Integer> byValue = new HashMap<>();
    private final Map<Integer, Schema> received = new HashMap<>();
    private final Map<Integer, RuntimeException> refused = new HashMap<>();
    private ArrayNode unsent = Json.array();

    /** Returns the number of a schema, and sends it with the next frame if it is new; -1 for none. */
    int numberOf(Schema schema) {
        if (schema == null) return -1;
        Integer known = byIdentity.get(schema);
        if (known != null) return known;
        known = byValue.get(schema);
        if (known == null) {
            known = byValue.size();
            byValue.put(schema, known);
            unsent.add(Json.object().put("number", known).set("schema", toJson(schema)));
        }
        if (byIdentity.size() > MOST_REMEMBERED) byIdentity.clear();
        byIdentity.put(schema, known);
        return known;
    }

    /** Adds the schemas that the other side does not know yet. */
    void attach(ObjectNode header) {
        if (unsent.isEmpty()) return;
        header.set("schemas", unsent);
        unsent = Json.array();
    }

    /** Takes the schemas that came with a frame; one that Connect refuses fails the records that use it. */
    void receive(ObjectNode header) {
        JsonNode sent = header.get("schemas");
        if (sent == null) return;
        for (JsonNode one : sent) {
            int number = one.get("number").asInt();
            try {
                received.put(number, ofJson(one.get("schema")));
            } catch (RuntimeException error) {
                refused.put(number, error);
            }
        }
    }

    Schema numbered(int number) {
        if (number < 0) return null;
        Schema found = received.get(number);
        if (found != null) return found;
        RuntimeException error = refused.get(number);
        throw error != null ? error : new IllegalStateException("There is no schema of number " + number);
    }

    static ObjectNode toJson(Schema schema) {
        ObjectNode node = Json.object().put("type", schema.type().getName()).put("optional", schema.isOptional());
        if (schema.name() != null) node.put("name", schema.name());
        if (schema.version() != null) node.put("version", schema.version());
        if (schema.doc() != null) node.put("doc", schema.doc());
        if (schema.parameters() != null) node.set("parameters", Json.of(schema.parameters()));
        switch (schema.type()) {
            case STRUCT -> {
                ArrayNode fields = node.putArray("fields");
                for (Field field : schema.fields()) {
                    fields.add(Json.object().put("name", field.name()).set("schema", toJson(field.schema())));
                }
            }
            case MAP -> {
                if (schema.keySchema() != null) node.set("keys", toJson(schema.keySchema()));
                if (schema.valueSchema() != null) node.set("values", toJson(schema.valueSchema()));
            }
            case ARRAY -> {
                if (schema.valueSchema() != null) node.set("values", toJson(schema.valueSchema()));
            }
            default -> { }
        }
        if (schema.defaultValue() != null) node.put("default", Values.toBytes(schema.defaultValue(), schema));
        return node;
    }

    static Schema ofJson(JsonNode node) {
        if (node == null || node.isNull()) return null;
        ConnectSchema plain = plain(node, null);
        byte[] found = binary(node.get("default"));
        return found == null ? plain : plain(node, Values.ofBytes(found, plain));
    }

    private static ConnectSchema plain(JsonNode node, Object defaultValue) {
        Schema.Type type = Schema.Type.valueOf(node.get("type").asText().toUpperCase(java.util.Locale.ROOT));
        List<Field> fields = null;
        if (type == Schema.Type.STRUCT) {
            fields = new ArrayList<>();
            for (JsonNode one : node.get("fields")) {
                fields.add(new Field(one.get("name").asText(), fields.size(), ofJson(one.get("schema"))));
            }
        }
        return new ConnectSchema(
                type,
                node.get("optional").asBoolean(),
                defaultValue,
                node.hasNonNull("name") ? node.get("name").asText() : null,
                node.hasNonNull("version") ? node.get("version").asInt() : null,
                node.hasNonNull("doc") ? node.get("doc").asText() : null,
                node.hasNonNull("parameters") ? Json.strings(node.get("parameters")) : null,
                fields,
                ofJson(node.get("keys")),
                ofJson(node.get("values")));
    }

    private static byte[] binary(JsonNode node) {
        try {
            return node == null ? null : node.binaryValue();
        } catch (java.io.IOException error) {
            throw new java.io.UncheckedIOException(error);
        }
    }
}
