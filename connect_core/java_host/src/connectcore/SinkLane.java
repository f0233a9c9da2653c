package connectcore;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.sink.SinkTask;

/**
 * A sink task: records are made of a batch first, then put as often as it takes.
 *
 * Connect: WorkerSinkTask. All but stop is called in one thread.
 */
final class SinkLane implements Lane {
    private final SinkTask task;
    private final ClassLoader loader;
    private final Flow<SinkRecord> flow;
    private final Schemas schemas = new Schemas();
    private final SinkContext context;
    private final Reports reports;
    private final Map<String, String> config;
    private final Set<TopicPartition> assignment = new HashSet<>();
    private final int mostPut;
    private List<SinkRecord> waiting = List.of();
    private int done;

    SinkLane(Frame request, Isolation isolation, Host host, int target) throws Exception {
        JsonNode header = request.header();
        loader = isolation.loaderOf(request.text("connector"));
        config = Json.strings(header.get("config"));
        mostPut = header.get("mostPut").asInt();
        for (JsonNode one : header.get("assignment")) assignment.add(partition(one));
        reports = header.path("hasReporter").asBoolean() ? new Reports(host, target) : null;
        context = new SinkContext(config, assignment, reports);
        flow = Isolation.within(loader, () -> new Flow<>(header.get("flow"), loader));
        task = Isolation.make(request.text("task"), SinkTask.class, loader);
    }

    @Override
    public Frame handle(String op, Frame request) throws Throwable {
        Frame answer;
        try {
            answer = Isolation.within(loader, () -> answer(op, request));
        } catch (Throwable error) {
            if (!Failures.isOfOneRecord(error)) throw error;
            // What the task asked for before it failed counts, such as how long to wait.
            answer = new Frame(Json.object()).set("error", Failures.toJson(error));
        }
        Frame found = answer == null ? new Frame(Json.object()) : answer;
        return found.set("context", context.take());
    }

    private Frame answer(String op, Frame request) throws Exception {
        switch (op) {
            case "sink.start" -> {
                task.initialize(context);
                task.start(config);
            }
            case "sink.open" -> task.open(assignment);
            case "sink.read" -> {
                return read(request);
            }
            case "sink.put" -> put();
            case "sink.commit" -> {
                return preCommit(request.header().get("offsets"));
            }
            case "sink.close" -> task.close(assignment);
            default -> throw new IllegalArgumentException(op);
        }
        return null;
    }

    /** Makes records of a batch, to be put next; answers which rows failed and where. */
    private Frame read(Frame request) {
        waiting = new ArrayList<>();
        done = 0;
        Batch batch = new Batch(request, schemas);
        ArrayNode failures = Json.array();
        for (int row = 0; row < batch.size(); row++) {
            try {
                SinkRecord record = flow.hasConverters() ? batch.converted(row, flow) : batch.record(row);
                SinkRecord made = flow.transform(record);
                if (made != null) waiting.add(made);
            } catch (Flow.StageFailure failure) {
                ObjectNode one = failures.addObject().put("row", row).put("stage", failure.stage);
                one.put("attempts", failure.attempts).set("error", Failures.toJson(failure.getCause()));
            }
        }
        return new Frame(Json.object()).set("failures", failures).put("rows", waiting.size());
    }

    /** Puts what is waiting, as many records at once as Connect's consumer gives; where it failed it goes on. */
    private void put() {
        if (waiting.isEmpty()) task.put(List.of());
        while (done < waiting.size()) {
            int end = Math.min(waiting.size(), done + mostPut);
            task.put(new ArrayList<>(waiting.subList(done, end)));
            done = end;
        }
        waiting = List.of();
        done = 0;
    }

    private Frame preCommit(JsonNode offsets) {
        Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
        for (JsonNode one : offsets) positions.put(partition(one), new OffsetAndMetadata(one.get(2).asLong()));
        Map<TopicPartition, Long> safe = new HashMap<>();
        Map<TopicPartition, OffsetAndMetadata> found = task.preCommit(positions);
        if (found != null) found.forEach((one, offset) -> safe.put(one, offset.offset()));
        return new Frame(Json.object()).set("offsets", SinkContext.positions(safe));
    }

    private static TopicPartition partition(JsonNode node) {
        return new TopicPartition(node.get(0).asText(), node.get(1).asInt());
    }

    @Override
    public void stop() throws Exception {
        flow.stop();
        if (reports != null) reports.close();
        Isolation.within(loader, () -> {
            task.stop();
            return null;
        });
        flow.close();
    }

    /** Answers that errant records are in the dead letter topic. */
    void reported(Frame request) {
        reports.done(request);
    }

    /** Rows of one topic, as they were read from Kafka. */
    private static final class Batch {
        private final int size;
        private final String topic;
        private final org.apache.kafka.common.record.TimestampType kind;
        private final ByteBuffer partitions;
        private final ByteBuffer offsets;
        private final ByteBuffer hasTimestamp;
        private final ByteBuffer timestamps;
        private final ColumnReader.Binaries keyBytes;
        private final ColumnReader.Binaries valueBytes;
        private final DataColumn.Reader keys;
        private final DataColumn.Reader values;
        private final HeaderColumn.Reader headers;
        private final ByteBuffer originalTopics;
        private final JsonNode names;

        Batch(Frame request, Schemas schemas) {
            JsonNode header = request.header();
            schemas.receive(request.header());
            Iterator<ByteBuffer> buffers = request.buffers().iterator();
            size = header.get("rows").asInt();
            topic = request.text("topic");
            kind = org.apache.kafka.common.record.TimestampType.forName(request.text("timestampType"));
            partitions = buffers.next();
            offsets = buffers.next();
            hasTimestamp = buffers.next();
            timestamps = buffers.next();
            names = header.get("topics");
            originalTopics = names == null ? null : buffers.next();
            boolean isConverted = !header.hasNonNull("key");
            keyBytes = isConverted ? new ColumnReader.Binaries(buffers) : null;
            valueBytes = isConverted ? new ColumnReader.Binaries(buffers) : null;
            keys = isConverted ? null : DataColumn.read(header.get("key"), size, buffers, schemas);
            values = isConverted ? null : DataColumn.read(header.get("value"), size, buffers, schemas);
            headers = new HeaderColumn.Reader(request, buffers, schemas);
        }

        int size() {
            return size;
        }

        SinkRecord converted(int row, Flow<SinkRecord> flow) throws Flow.StageFailure {
            byte[] key = (byte[]) keyBytes.get(row);
            byte[] value = (byte[]) valueBytes.get(row);
            Flow.Meaning found = flow.toMeaning(topic, new Flow.Bytes(key, value, headers.bytes(row)));
            return new SinkRecord(
                    topic,
                    partitions.getInt(4 * row),
                    found.key().schema(),
                    found.key().value(),
                    found.value().schema(),
                    found.value().value(),
                    offsets.getLong(8 * row),
                    timestamp(row),
                    kind,
                    found.headers());
        }

        SinkRecord record(int row) {
            int partition = partitions.getInt(4 * row);
            long offset = offsets.getLong(8 * row);
            SinkRecord read = new SinkRecord(
                    topic,
                    partition,
                    keys.schema(row),
                    keys.value(row),
                    values.schema(row),
                    values.value(row),
                    offset,
                    timestamp(row),
                    kind,
                    headers.values(row));
            if (names == null) return read;
            String routed = names.get(originalTopics.getInt(4 * row)).asText();
            return read.newRecord(
                    routed, partition, read.keySchema(), read.key(), read.valueSchema(), read.value(), read.timestamp());
        }

        private Long timestamp(int row) {
            boolean isValid = hasTimestamp.limit() == 0 || (hasTimestamp.get(row >> 3) >> (row & 7) & 1) != 0;
            return isValid ? timestamps.getLong(8 * row) : null;
        }
    }
}
