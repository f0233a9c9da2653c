package connectcore;

import java.util.Map;
import org.apache.kafka.common.metrics.PluginMetrics;
import org.apache.kafka.connect.source.SourceTaskContext;
import org.apache.kafka.connect.source.TransactionContext;
import org.apache.kafka.connect.storage.OffsetStorageReader;

/** What a source task is offered; transactionContext is null unless it sets boundaries itself. */
record SourceContext(
        Map<String, String> configs,
        OffsetStorageReader offsetStorageReader,
        TransactionContext transactionContext,
        PluginMetrics pluginMetrics)
        implements SourceTaskContext {}
