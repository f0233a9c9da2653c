package connectcore;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.transforms.predicates.Predicate;

/** Transforms between stages that are not Java's: a batch of values in, a batch of values out. */
final class ChainLane implements Lane {
    private final Flow<? extends ConnectRecord<?>> flow;
    private final Predicate<?> predicate;
    private final Schemas schemas = new Schemas();

    ChainLane(Frame request, Isolation isolation) throws Exception {
        flow = make(request.header().get("flow"), isolation.all());
        JsonNode guard = request.header().get("predicate");
        predicate = guard == null ? null : Flow.predicate(guard, isolation.all());
    }

    @SuppressWarnings({"rawtypes", "unchecked"})
    private static Flow<? extends ConnectRecord<?>> make(JsonNode spec, ClassLoader loader) throws Exception {
        return new Flow(spec, loader);
    }

    @Override
    @SuppressWarnings({"rawtypes", "unchecked"})
    public Frame handle(String op, Frame request) throws Throwable {
        schemas.receive(request.header());
        if (op.equals("chain.test")) return test(request);
        Input input = new Input(request, schemas);
        Output output = new Output();
        ArrayNode failures = Json.array();
        for (int row = 0; row < input.size; row++) {
            try {
                ConnectRecord made = ((Flow) flow).transform(input.record(row));
                if (made != null) output.add(row, made);
            } catch (Flow.StageFailure failure) {
                failures.addObject()
                        .put("row", row)
                        .put("stage", failure.stage)
                        .put("attempts", failure.attempts)
                        .set("error", Failures.toJson(failure.getCause()));
            }
        }
        return output.toFrame(schemas).set("failures", failures);
    }

    /** Answers for which rows the predicate holds. */
    @SuppressWarnings({"rawtypes", "unchecked"})
    private Frame test(Frame request) throws Exception {
        Input input = new Input(request, schemas);
        Out holds = new Out();
        Isolation.within(predicate.getClass().getClassLoader(), () -> {
            for (int row = 0; row < input.size; row++) {
                holds.putByte(((Predicate) predicate).test(input.record(row)) ? 1 : 0);
            }
            return null;
        });
        Frame answer = new Frame(Json.object());
        answer.buffers().add(holds.done());
        return answer;
    }

    @Override
    public void stop() {
        if (predicate != null) Flow.quietly(predicate);
        flow.close();
    }

    /** Rows of the other side. */
    private static final class Input {
        final int size;
        private final boolean isSink;
        private final JsonNode topics;
        private final ByteBuffer topic;
        private final ByteBuffer hasPartition;
        private final ByteBuffer partitions;
        private final ByteBuffer hasTimestamp;
        private final ByteBuffer timestamps;
        private final ByteBuffer offsets;
        private final TimestampType kind;
        private final DataColumn.Reader keys;
        private final DataColumn.Reader values;
        private final HeaderColumn.Reader headers;

        Input(Frame request, Schemas schemas) {
            JsonNode header = request.header();
            Iterator<ByteBuffer> buffers = request.buffers().iterator();
            size = header.get("rows").asInt();
            isSink = header.path("sink").asBoolean();
            topics = header.get("topics");
            kind = isSink ? TimestampType.forName(request.text("timestampType")) : null;
            topic = buffers.next();
            hasPartition = buffers.next();
            partitions = buffers.next();
            hasTimestamp = buffers.next();
            timestamps = buffers.next();
            offsets = isSink ? buffers.next() : null;
            keys = DataColumn.read(header.get("key"), size, buffers, schemas);
            values = DataColumn.read(header.get("value"), size, buffers, schemas);
            headers = new HeaderColumn.Reader(request, buffers, schemas);
        }

        ConnectRecord<?> record(int row) {
            int number = topic.getInt(4 * row);
            String name = number < 0 ? null : topics.get(number).asText();
            Integer partition = isSet(hasPartition, row) ? partitions.getInt(4 * row) : null;
            Long time = isSet(hasTimestamp, row) ? timestamps.getLong(8 * row) : null;
            Object key = keys.value(row);
            Object value = values.value(row);
            if (isSink) {
                return new SinkRecord(name, partition == null ? 0 : partition, keys.schema(row), key, values.schema(row),
                        value, offsets.getLong(8 * row), time, kind, headers.values(row));
            }
            return new SourceRecord(Map.of(), Map.of(), name, partition, keys.schema(row), key, values.schema(row), value,
                    time, headers.values(row));
        }

        private static boolean isSet(ByteBuffer bits, int row) {
            return bits.limit() == 0 || (bits.get(row >> 3) >> (row & 7) & 1) != 0;
        }
    }

    /** Rows that are left, and which of the input each is. */
    private static final class Output {
        private final Map<String, Integer> topics = new LinkedHashMap<>();
        private final Out origin = new Out();
        private final Out topic = new Out();
        private final Validity hasPartition = new Validity();
        private final Out partitions = new Out();
        private final Validity hasTimestamp = new Validity();
        private final Out timestamps = new Out();
        private final DataColumn keys = new DataColumn();
        private final DataColumn values = new DataColumn();
        private final HeaderColumn headers = new HeaderColumn();
        private int size;

        void add(int row, ConnectRecord<?> record) {
            origin.putInt(row);
            topic.putInt(record.topic() == null ? -1 : topics.computeIfAbsent(record.topic(), name -> topics.size()));
            hasPartition.add(record.kafkaPartition() != null);
            partitions.putInt(record.kafkaPartition() == null ? 0 : record.kafkaPartition());
            hasTimestamp.add(record.timestamp() != null);
            timestamps.putLong(record.timestamp() == null ? 0 : record.timestamp());
            keys.add(record.keySchema(), record.key());
            values.add(record.valueSchema(), record.value());
            headers.add(record.headers());
            size++;
        }

        Frame toFrame(Schemas schemas) {
            Frame frame = new Frame(Json.object()).put("rows", size).set("topics", Json.of(topics.keySet()));
            frame.buffers().add(origin.done());
            frame.buffers().add(topic.done());
            frame.buffers().add(hasPartition.done());
            frame.buffers().add(partitions.done());
            frame.buffers().add(hasTimestamp.done());
            frame.buffers().add(timestamps.done());
            frame.set("key", keys.finish(frame, schemas));
            frame.set("value", values.finish(frame, schemas));
            headers.finish(frame, schemas);
            schemas.attach(frame.header());
            return frame;
        }
    }
}
