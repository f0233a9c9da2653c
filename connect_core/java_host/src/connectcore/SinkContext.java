package connectcore;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.metrics.PluginMetrics;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.sink.ErrantRecordReporter;
import org.apache.kafka.connect.sink.SinkTaskContext;

/** What a sink task is offered; what it asks for goes along with the next answer. */
final class SinkContext implements SinkTaskContext {
    private final Map<String, String> config;
    private final Set<TopicPartition> assignment;
    private final ErrantRecordReporter reporter;
    private final PluginMetrics metrics;
    private final Map<TopicPartition, Long> rewinds = new HashMap<>();
    private final Set<TopicPartition> paused = new HashSet<>();
    private long timeout = -1;
    private boolean isCommitRequested;

    SinkContext(Map<String, String> config, Set<TopicPartition> assignment, ErrantRecordReporter reporter) {
        this.config = config;
        this.assignment = assignment;
        this.reporter = reporter;
        metrics = Metrics.of(config.get("name"));
    }

    @Override
    public Map<String, String> configs() {
        return config;
    }

    @Override
    public synchronized void offset(Map<TopicPartition, Long> offsets) {
        rewinds.putAll(offsets);
    }

    @Override
    public synchronized void offset(TopicPartition partition, long offset) {
        rewinds.put(partition, offset);
    }

    @Override
    public synchronized void timeout(long millis) {
        timeout = millis;
    }

    @Override
    public Set<TopicPartition> assignment() {
        return assignment;
    }

    @Override
    public synchronized void pause(TopicPartition... partitions) {
        check(partitions);
        paused.addAll(Arrays.asList(partitions));
    }

    @Override
    public synchronized void resume(TopicPartition... partitions) {
        check(partitions);
        List.of(partitions).forEach(paused::remove);
    }

    private void check(TopicPartition... partitions) {
        for (TopicPartition one : partitions) {
            if (!assignment.contains(one)) {
                throw new ConnectException("SinkTasks may not pause partitions that are not assigned to them: " + one);
            }
        }
    }

    @Override
    public synchronized void requestCommit() {
        isCommitRequested = true;
    }

    @Override
    public ErrantRecordReporter errantRecordReporter() {
        return reporter;
    }

    @Override
    public PluginMetrics pluginMetrics() {
        return metrics;
    }

    /** Returns what was asked for since the last answer; what is paused is told each time. */
    synchronized ObjectNode take() {
        ObjectNode asked = Json.object();
        if (timeout >= 0) asked.put("timeout", timeout);
        if (isCommitRequested) asked.put("commit", true);
        if (!rewinds.isEmpty()) asked.set("rewinds", positions(rewinds));
        ArrayNode waiting = asked.putArray("paused");
        for (TopicPartition one : paused) waiting.add(Json.array().add(one.topic()).add(one.partition()));
        timeout = -1;
        isCommitRequested = false;
        rewinds.clear();
        return asked;
    }

    static ArrayNode positions(Map<TopicPartition, Long> offsets) {
        ArrayNode found = Json.array();
        offsets.forEach((one, offset) -> found.add(Json.array().add(one.topic()).add(one.partition()).add(offset)));
        return found;
    }
}
