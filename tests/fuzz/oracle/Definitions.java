import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;

/** A ConfigDef from a case's JSON. */
final class Definitions {
    private Definitions() {}

    static ConfigDef of(JsonNode content) {
        ConfigDef definition = new ConfigDef();
        for (JsonNode key : content.get("keys")) {
            Object fallback = key.has("default") ? Decoding.value(key.get("default"), null) : ConfigDef.NO_DEFAULT_VALUE;
            definition.define(key.get("name").asText(), ConfigDef.Type.valueOf(key.get("type").asText()), fallback,
                validator(key.get("validator")), ConfigDef.Importance.HIGH, "");
        }
        return definition;
    }

    private static ConfigDef.Validator validator(JsonNode content) {
        if (content == null || content.isNull()) {
            return null;
        }
        Map.Entry<String, JsonNode> one = content.fields().next();
        JsonNode body = one.getValue();
        switch (one.getKey()) {
            case "atLeast": return ConfigDef.Range.atLeast((Number) Decoding.value(body, null));
            case "between": return ConfigDef.Range.between(
                (Number) Decoding.value(body.get(0), null), (Number) Decoding.value(body.get(1), null));
            case "validString": return ConfigDef.ValidString.in(texts(body));
            case "caseInsensitiveValidString": return ConfigDef.CaseInsensitiveValidString.in(texts(body));
            case "validList": return ConfigDef.ValidList.in(texts(body));
            case "nonEmptyString": return new ConfigDef.NonEmptyString();
            case "nonEmptyStringWithoutControlChars":
                return ConfigDef.NonEmptyStringWithoutControlChars.nonEmptyStringWithoutControlChars();
            case "nonNull": return new ConfigDef.NonNullValidator();
            case "listSize": return ConfigDef.ListSize.atMostOfSize(body.asInt());
            default: throw new IllegalArgumentException("no such validator");
        }
    }

    private static String[] texts(JsonNode list) {
        List<String> texts = new ArrayList<>();
        list.forEach(item -> texts.add(item.isNull() ? null : item.asText()));
        return texts.toArray(new String[0]);
    }
}
