package connectcore;

import java.util.Map;
import org.apache.kafka.common.metrics.PluginMetrics;
import org.apache.kafka.common.metrics.internals.PluginMetricsImpl;

/** Takes the metrics that plugins add (KIP-877); they are seen through JMX only. */
final class Metrics {
    private Metrics() {}

    static PluginMetrics of(String connector) {
        return new PluginMetricsImpl(new org.apache.kafka.common.metrics.Metrics(), Map.of("connector", connector));
    }
}
