package connectcore;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.config.Config;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.Connector;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.runtime.isolation.PluginDesc;
import org.apache.kafka.connect.runtime.isolation.Plugins;
import org.apache.kafka.connect.sink.SinkConnector;
import org.apache.kafka.connect.source.SourceConnector;
import org.apache.kafka.connect.source.SourceTask;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.HeaderConverter;
import org.apache.kafka.connect.transforms.Transformation;
import org.apache.kafka.connect.transforms.predicates.Predicate;

/** Which plugins there are, and what they say of themselves and of configurations, without being started. */
final class Catalog implements Lane {
    private static final String CONFIG = "config";

    private final Isolation isolation;

    Catalog(Isolation isolation) {
        this.isolation = isolation;
    }

    @Override
    public Frame handle(String op, Frame request) throws Throwable {
        return switch (op) {
            case "catalog.plugins" -> plugins();
            case "catalog.validate" -> validate(request);
            case "catalog.check" -> check(request);
            case "catalog.support" -> support(request);
            case "catalog.alter" -> alter(request);
            default -> throw new IllegalArgumentException(op);
        };
    }

    private Frame plugins() {
        Plugins found = isolation.plugins();
        ArrayNode all = Json.array();
        add(all, "sink", found.sinkConnectors());
        add(all, "source", found.sourceConnectors());
        add(all, "transformation", found.transformations());
        add(all, "predicate", found.predicates());
        add(all, "converter", found.converters());
        add(all, "header_converter", found.headerConverters());
        return new Frame(Json.object()).set("plugins", all);
    }

    private static void add(ArrayNode all, String type, Collection<? extends PluginDesc<?>> plugins) {
        for (PluginDesc<?> plugin : plugins) {
            ObjectNode one = all.addObject()
                    .put("class", plugin.className())
                    .put("type", type)
                    .put("version", plugin.version())
                    .put("location", plugin.location());
            describe(one, plugin);
        }
    }

    /** Adds settings and, of connectors, the task; a plugin that cannot say them is listed all the same. */
    private static void describe(ObjectNode one, PluginDesc<?> plugin) {
        try {
            Isolation.within(plugin.loader(), () -> {
                Object made = plugin.pluginClass().getDeclaredConstructor().newInstance();
                one.set("settings", Definitions.toJson(definitionOf(made)));
                return null;
            });
        } catch (Throwable error) {
            one.set("trouble", Failures.toJson(error));
        }
        try {
            Isolation.within(plugin.loader(), () -> {
                Object made = plugin.pluginClass().getDeclaredConstructor().newInstance();
                if (!(made instanceof Connector connector)) return null;
                Class<? extends Task> task = connector.taskClass();
                one.put("task", task.getName());
                one.put("followsRecords", SourceTask.class.isAssignableFrom(task) && SourceLane.followsRecords(task));
                return null;
            });
        } catch (Throwable error) {
            // It depends on the configuration: the task is known once the connector has started.
            one.put("followsRecords", true);
        }
    }

    private static ConfigDef definitionOf(Object plugin) {
        if (plugin instanceof Connector one) return one.config();
        if (plugin instanceof Transformation<?> one) return one.config();
        if (plugin instanceof Predicate<?> one) return one.config();
        if (plugin instanceof HeaderConverter one) return one.config();
        return plugin instanceof Converter one ? one.config() : null;
    }

    private Frame validate(Frame request) throws Exception {
        Connector connector = connector(request);
        Map<String, String> config = Json.strings(request.header().get(CONFIG));
        return within(connector, () -> {
            Config found = connector.validate(config);
            return new Frame(Json.object()).set("values", Definitions.toJson(found.configValues(), connector.config()));
        });
    }

    /** Asks the validator of one setting; what it refuses is the answer. */
    private Frame check(Frame request) throws Exception {
        Object made = isolation.make(request.text("class"), Object.class);
        return within(made, () -> {
            ConfigDef.ConfigKey key = definitionOf(made).configKeys().get(request.text("name"));
            String given = request.text("value");
            if (key != null && key.validator != null) {
                key.validator.ensureValid(key.name, given == null ? null : ConfigDef.parseType(key.name, given, key.type));
            }
            return null;
        });
    }

    private Frame support(Frame request) throws Exception {
        Connector connector = connector(request);
        Map<String, String> config = Json.strings(request.header().get(CONFIG));
        if (!(connector instanceof SourceConnector source)) return new Frame(Json.object());
        return within(connector, () -> {
            Object support = source.exactlyOnceSupport(config);
            Object boundaries = source.canDefineTransactionBoundaries(config);
            Frame answer = new Frame(Json.object());
            answer.put("exactlyOnce", support == null ? null : support.toString());
            return answer.put("boundaries", boundaries == null ? null : boundaries.toString());
        });
    }

    private Frame alter(Frame request) throws Exception {
        Connector connector = connector(request);
        Map<String, String> config = Json.strings(request.header().get(CONFIG));
        JsonNode offsets = request.header().get("offsets");
        return within(connector, () -> {
            boolean isFollowed = connector instanceof SourceConnector source
                    ? source.alterOffsets(config, sourceOffsets(offsets))
                    : ((SinkConnector) connector).alterOffsets(config, sinkOffsets(offsets));
            return new Frame(Json.object()).put("followed", isFollowed);
        });
    }

    private static Map<Map<String, ?>, Map<String, ?>> sourceOffsets(JsonNode pairs) {
        Map<Map<String, ?>, Map<String, ?>> found = new HashMap<>();
        for (JsonNode pair : pairs) found.put(Json.map(pair.get(0)), Json.map(pair.get(1)));
        return found;
    }

    private static Map<org.apache.kafka.common.TopicPartition, Long> sinkOffsets(JsonNode rows) {
        Map<org.apache.kafka.common.TopicPartition, Long> found = new HashMap<>();
        for (JsonNode row : rows) {
            found.put(
                    new org.apache.kafka.common.TopicPartition(row.get(0).asText(), row.get(1).asInt()),
                    row.get(2).isNull() ? null : row.get(2).asLong());
        }
        return found;
    }

    private Connector connector(Frame request) throws Exception {
        return isolation.make(request.text("class"), Connector.class);
    }

    private static Frame within(Object plugin, java.util.concurrent.Callable<Frame> call) throws Exception {
        return Isolation.within(plugin.getClass().getClassLoader(), call);
    }

    @Override
    public void stop() {}
}
