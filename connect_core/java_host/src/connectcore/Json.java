package connectcore;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.LinkedHashMap;
import java.util.Map;

/** JSON of headers. Whole numbers become Long and others Double, as in offsets that Connect reads back. */
final class Json {
    static final ObjectMapper MAPPER = new ObjectMapper()
            .configure(DeserializationFeature.USE_LONG_FOR_INTS, true)
            .configure(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS, true);

    private Json() {}

    static ObjectNode object() {
        return MAPPER.createObjectNode();
    }

    static ArrayNode array() {
        return MAPPER.createArrayNode();
    }

    static JsonNode of(Object value) {
        return MAPPER.valueToTree(value);
    }

    static Map<String, String> strings(JsonNode node) {
        Map<String, String> found = new LinkedHashMap<>();
        node.fields().forEachRemaining(one -> found.put(one.getKey(), one.getValue().isNull() ? null : one.getValue().asText()));
        return found;
    }

    /** Returns an offset or a source partition; null for JSON's null. */
    @SuppressWarnings("unchecked")
    static Map<String, Object> map(JsonNode node) {
        return node == null || node.isNull() ? null : MAPPER.convertValue(node, Map.class);
    }
}
