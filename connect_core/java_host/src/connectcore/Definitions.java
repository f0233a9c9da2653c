package connectcore;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigValue;

/** Settings of plugins, and what they find about a configuration, as JSON. */
final class Definitions {
    private Definitions() {}

    static ArrayNode toJson(ConfigDef definition) {
        ArrayNode keys = Json.array();
        if (definition == null) return keys;
        for (ConfigDef.ConfigKey key : definition.configKeys().values()) {
            ObjectNode one = keys.addObject()
                    .put("name", key.name)
                    .put("type", key.type.name())
                    .put("importance", key.importance.name())
                    .put("documentation", key.documentation)
                    .put("group", key.group)
                    .put("order", key.orderInGroup)
                    .put("width", key.width.name())
                    .put("displayName", key.displayName)
                    .put("required", !key.hasDefault())
                    .put("internal", key.internalConfig)
                    .put("validator", key.validator == null ? null : String.valueOf(key.validator))
                    .put("recommender", key.recommender != null);
            one.set("default", defaultOf(key));
            one.set("dependents", Json.of(key.dependents));
        }
        return keys;
    }

    private static com.fasterxml.jackson.databind.JsonNode defaultOf(ConfigDef.ConfigKey key) {
        if (!key.hasDefault() || key.defaultValue == null) return Json.MAPPER.nullNode();
        return Json.of(text(key.defaultValue, key.type));
    }

    static ArrayNode toJson(List<ConfigValue> values, ConfigDef definition) {
        ArrayNode found = Json.array();
        for (ConfigValue value : values) {
            ConfigDef.ConfigKey key = definition == null ? null : definition.configKeys().get(value.name());
            ConfigDef.Type type = key == null ? null : key.type;
            ObjectNode one = found.addObject().put("name", value.name()).put("visible", value.visible());
            one.put("value", value.value() == null ? null : text(value.value(), type));
            one.set("errors", Json.of(value.errorMessages()));
            ArrayNode recommended = one.putArray("recommended");
            for (Object option : value.recommendedValues()) recommended.add(option == null ? null : text(option, type));
        }
        return found;
    }

    private static String text(Object value, ConfigDef.Type type) {
        return type == null ? String.valueOf(value) : ConfigDef.convertToString(value, type);
    }
}
