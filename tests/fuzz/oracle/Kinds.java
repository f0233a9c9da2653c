import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.BooleanNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigValue;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.ConnectSchema;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.data.SchemaProjector;
import org.apache.kafka.connect.data.Values;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.HeaderConverter;
import org.apache.kafka.connect.transforms.Transformation;
import org.apache.kafka.connect.transforms.predicates.Predicate;

/** What a case of each kind calls. */
final class Kinds {
    private Kinds() {}

    static JsonNode run(JsonNode testCase, Oracle.Steps steps) throws Throwable {
        switch (testCase.get("kind").asText()) {
            case "transform": return transform(testCase, steps);
            case "predicate": return predicate(testCase, steps);
            case "converter": return converter(testCase, steps);
            case "values": return values(testCase, steps);
            case "project": return project(testCase, steps);
            case "validate_value": return validateValue(testCase, steps);
            case "configdef_parse": return parse(testCase, steps);
            case "configdef_validate": return validate(testCase, steps);
            default: throw new IllegalArgumentException("no such kind");
        }
    }

    @SuppressWarnings("unchecked")
    private static <T> T plugin(JsonNode testCase) throws Exception {
        return (T) Class.forName(testCase.get("class").asText()).getDeclaredConstructor().newInstance();
    }

    @SuppressWarnings({"rawtypes", "unchecked"})
    private static JsonNode transform(JsonNode testCase, Oracle.Steps steps) throws Exception {
        Transformation found = plugin(testCase);
        steps.current = "configure";
        found.configure(Decoding.config(testCase.get("config")));
        steps.current = "decode";
        ConnectRecord record = Decoding.record(testCase.get("input"));
        steps.current = "apply";
        return Encoding.record(found.apply(record));
    }

    @SuppressWarnings({"rawtypes", "unchecked"})
    private static JsonNode predicate(JsonNode testCase, Oracle.Steps steps) throws Exception {
        Predicate found = plugin(testCase);
        steps.current = "configure";
        found.configure(Decoding.config(testCase.get("config")));
        steps.current = "decode";
        ConnectRecord record = Decoding.record(testCase.get("input"));
        steps.current = "test";
        return BooleanNode.valueOf(found.test(record));
    }

    private static JsonNode converter(JsonNode testCase, Oracle.Steps steps) throws Exception {
        JsonNode input = testCase.get("input");
        String operation = input.get("op").asText();
        Map<String, Object> config = Decoding.config(testCase.get("config"));
        String topic = input.get("topic").asText();
        if (operation.endsWith("Header")) {
            HeaderConverter found = plugin(testCase);
            steps.current = "configure";
            config.put("converter.type", "header");
            found.configure(config);
            String header = input.get("headerKey").asText();
            if (operation.startsWith("from")) {
                SchemaAndValue data = data(input, steps);
                return Encoding.value(null, found.fromConnectHeader(topic, header, data.schema(), data.value()));
            }
            byte[] bytes = bytes(input, steps);
            return Encoding.data(found.toConnectHeader(topic, header, bytes));
        }
        Converter found = plugin(testCase);
        steps.current = "configure";
        found.configure(config, input.get("isKey").asBoolean());
        if (operation.startsWith("from")) {
            SchemaAndValue data = data(input, steps);
            return Encoding.value(null, found.fromConnectData(topic, data.schema(), data.value()));
        }
        byte[] bytes = bytes(input, steps);
        return Encoding.data(found.toConnectData(topic, bytes));
    }

    private static SchemaAndValue data(JsonNode input, Oracle.Steps steps) {
        steps.current = "decode";
        Schema schema = Decoding.schema(input.get("schema"));
        Object value = Decoding.value(input.get("value"), schema);
        steps.current = "convert";
        return new SchemaAndValue(schema, value);
    }

    private static byte[] bytes(JsonNode input, Oracle.Steps steps) {
        steps.current = "decode";
        byte[] found = (byte[]) Decoding.value(input.get("bytes"), null);
        steps.current = "convert";
        return found;
    }

    private static JsonNode values(JsonNode testCase, Oracle.Steps steps) throws Throwable {
        JsonNode input = testCase.get("input");
        String name = testCase.get("class").asText();
        SchemaAndValue data = data(input, steps);
        steps.current = "call";
        if (name.equals("parseString")) {
            return Encoding.data(Values.parseString((String) data.value()));
        }
        if (name.equals("inferSchema")) {
            return Encoding.schema(Values.inferSchema(data.value()));
        }
        if (name.equals("convertToDecimal")) {
            int scale = input.get("scale").asInt();
            return Encoding.value(null, Values.convertToDecimal(data.schema(), data.value(), scale));
        }
        Method method = Values.class.getMethod(name, Schema.class, Object.class);
        try {
            return Encoding.value(null, method.invoke(null, data.schema(), data.value()));
        } catch (InvocationTargetException error) {
            throw error.getCause();
        }
    }

    private static JsonNode project(JsonNode testCase, Oracle.Steps steps) {
        JsonNode input = testCase.get("input");
        Schema source = Decoding.schema(input.get("source"));
        Schema target = Decoding.schema(input.get("target"));
        Object value = Decoding.value(input.get("value"), source);
        steps.current = "project";
        return Encoding.value(target, SchemaProjector.project(source, value, target));
    }

    private static JsonNode validateValue(JsonNode testCase, Oracle.Steps steps) {
        JsonNode input = testCase.get("input");
        Schema schema = Decoding.schema(input.get("schema"));
        Object value = Decoding.value(input.get("value"), schema);
        steps.current = "validate";
        ConnectSchema.validateValue(schema, value);
        return BooleanNode.TRUE;
    }

    private static JsonNode parse(JsonNode testCase, Oracle.Steps steps) {
        steps.current = "define";
        ConfigDef definition = Definitions.of(testCase.get("config"));
        Map<String, Object> given = Decoding.config(testCase.get("input"));
        steps.current = "parse";
        ObjectNode pairs = Oracle.JSON.createObjectNode();
        definition.parse(given).forEach((name, value) -> pairs.set(name, Encoding.value(null, value)));
        ObjectNode answer = Oracle.JSON.createObjectNode();
        answer.set("@map", pairs);
        return answer;
    }

    private static JsonNode validate(JsonNode testCase, Oracle.Steps steps) {
        steps.current = "define";
        ConfigDef definition = Definitions.of(testCase.get("config"));
        Map<String, String> given = new HashMap<>();
        for (Iterator<Map.Entry<String, JsonNode>> i = testCase.get("input").fields(); i.hasNext(); ) {
            Map.Entry<String, JsonNode> one = i.next();
            given.put(one.getKey(), one.getValue().isNull() ? null : one.getValue().asText());
        }
        steps.current = "validate";
        List<ConfigValue> found = new ArrayList<>(definition.validate(given));
        found.sort(Comparator.comparing(ConfigValue::name));
        ArrayNode answer = Oracle.JSON.createArrayNode();
        for (ConfigValue value : found) {
            ObjectNode one = answer.addObject();
            one.put("name", value.name());
            one.set("value", Encoding.value(null, value.value()));
            ArrayNode recommended = one.putArray("recommendedValues");
            value.recommendedValues().forEach(item -> recommended.add(Encoding.value(null, item)));
            ArrayNode messages = one.putArray("errorMessages");
            value.errorMessages().forEach(messages::add);
            one.put("visible", value.visible());
        }
        return answer;
    }
}
