package connectcore;

import com.fasterxml.jackson.databind.node.ArrayNode;
import java.util.Map;
import org.apache.kafka.common.metrics.PluginMetrics;
import org.apache.kafka.connect.connector.Connector;
import org.apache.kafka.connect.connector.ConnectorContext;
import org.apache.kafka.connect.sink.SinkConnectorContext;
import org.apache.kafka.connect.source.SourceConnector;
import org.apache.kafka.connect.source.SourceConnectorContext;
import org.apache.kafka.connect.source.SourceTask;
import org.apache.kafka.connect.storage.OffsetStorageReader;

/** A started connector: divides its work into tasks, and may ask to do so again. Connect: WorkerConnector. */
final class ConnectorLane implements Lane {
    private final Connector connector;
    private final ClassLoader loader;
    private final Map<String, String> config;
    private final Offsets offsets = new Offsets();
    private final Host host;
    private final int target;

    ConnectorLane(Frame request, Isolation isolation, Host host, int target) throws Exception {
        this.host = host;
        this.target = target;
        String name = request.text("connector");
        loader = isolation.loaderOf(name);
        config = Json.strings(request.header().get("config"));
        offsets.update(request.header().path("offsets"));
        connector = Isolation.make(name, Connector.class, loader);
    }

    @Override
    public Frame handle(String op, Frame request) throws Throwable {
        return Isolation.within(loader, () -> switch (op) {
            case "connector.start" -> start();
            case "connector.tasks" -> tasks(request);
            default -> throw new IllegalArgumentException(op);
        });
    }

    private Frame start() {
        PluginMetrics metrics = Metrics.of(config.get("name"));
        boolean isSource = connector instanceof SourceConnector;
        connector.initialize(isSource ? new SourceSide(metrics) : new SinkSide(metrics));
        connector.start(config);
        return null;
    }

    private Frame tasks(Frame request) throws Exception {
        offsets.update(request.header().path("offsets"));
        Class<?> task = connector.taskClass();
        ArrayNode configs = Json.array();
        for (Map<String, String> one : connector.taskConfigs(request.header().get("max").asInt())) configs.add(Json.of(one));
        boolean followsRecords = SourceTask.class.isAssignableFrom(task) && SourceLane.followsRecords(task);
        Frame answer = new Frame(Json.object()).put("task", task.getName()).put("followsRecords", followsRecords);
        return answer.set("configs", configs);
    }

    @Override
    public void stop() throws Exception {
        Isolation.within(loader, () -> {
            connector.stop();
            return null;
        });
    }

    private void tell(String event, Exception error) {
        Frame frame = new Frame(Json.object()).put("event", event).put("target", target);
        if (error != null) frame.set("error", Failures.toJson(error));
        host.send(frame);
    }

    /** What both kinds are offered; may be called from any thread of the connector. */
    private class Side implements ConnectorContext {
        private final PluginMetrics metrics;

        Side(PluginMetrics metrics) {
            this.metrics = metrics;
        }

        @Override
        public void requestTaskReconfiguration() {
            tell("reconfigure", null);
        }

        @Override
        public void raiseError(Exception error) {
            tell("raised", error);
        }

        @Override
        public PluginMetrics pluginMetrics() {
            return metrics;
        }
    }

    private final class SinkSide extends Side implements SinkConnectorContext {
        SinkSide(PluginMetrics metrics) {
            super(metrics);
        }
    }

    private final class SourceSide extends Side implements SourceConnectorContext {
        SourceSide(PluginMetrics metrics) {
            super(metrics);
        }

        @Override
        public OffsetStorageReader offsetStorageReader() {
            return offsets;
        }
    }
}
