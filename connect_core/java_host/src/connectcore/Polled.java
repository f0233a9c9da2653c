package connectcore;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.source.SourceRecord;

/**
 * Some polls of a source task, on their way to the other side: all rows polled, and what the flow made of them.
 *
 * Once it is sent, only what the commit needs is kept: a transaction may hold millions of records.
 */
final class Polled {
    private static final int NO_PARTITION = -1;
    private static final int ASSUMED_LENGTH = 200;

    final long number;
    private List<SourceRecord> records = new ArrayList<>();
    private final List<ObjectNode> failures = new ArrayList<>();
    private final Map<Map<String, ?>, Integer> partitions = new LinkedHashMap<>();
    private final List<Integer> lastRows = new ArrayList<>();
    private final List<SourceRecord> lastRecords = new ArrayList<>();
    private Out partition = new Out();
    private Rows rows;
    private Map<String, ?> lastSource;
    private int lastPartition;
    int bytes;
    /** How the task wants the transaction to end after this: commit or abort; null: it does not care. */
    String boundary;

    Polled(long number, boolean isConverted) {
        this.number = number;
        rows = new Rows(isConverted);
    }

    boolean isEmpty() {
        return records.isEmpty();
    }

    void add(SourceRecord record, Flow<SourceRecord> flow) {
        int row = records.size();
        records.add(record);
        partition.putInt(partitionOf(record, row));
        try {
            SourceRecord made = flow.transform(record);
            if (made == null) return;
            bytes += rows.add(row, made, flow);
        } catch (Flow.StageFailure failure) {
            failures.add(failureOf(row, failure));
        }
    }

    /** Adds a record without the flow. */
    void addUnchanged(SourceRecord record) {
        int row = records.size();
        records.add(record);
        partition.putInt(partitionOf(record, row));
        rows.addValues(row, record);
    }

    boolean hasFailures() {
        return !failures.isEmpty();
    }

    private int partitionOf(SourceRecord record, int row) {
        Map<String, ?> source = record.sourcePartition() == null ? Map.of() : record.sourcePartition();
        // Neighbours mostly have the same partition, as the same object in many sources.
        int known = source == lastSource ? lastPartition : numberOf(source);
        lastSource = source;
        lastPartition = known;
        lastRows.set(known, row);
        lastRecords.set(known, record);
        return known;
    }

    private int numberOf(Map<String, ?> source) {
        Integer known = partitions.putIfAbsent(source, partitions.size());
        if (known != null) return known;
        lastRows.add(null);
        lastRecords.add(null);
        return partitions.size() - 1;
    }

    private ObjectNode failureOf(int row, Flow.StageFailure failure) {
        return Json.object()
                .put("row", row)
                .put("stage", failure.stage)
                .put("attempts", failure.attempts)
                .set("error", Failures.toJson(failure.getCause()));
    }

    /** Returns it in the form that is sent, once: the rows that the flow made are not kept. */
    Frame toFrame(Schemas schemas) {
        Frame frame = new Frame(Json.object());
        frame.put("number", number).put("polled", records.size());
        frame.set("partitions", Json.of(new ArrayList<>(partitions.keySet())));
        ArrayNode offsets = Json.array();
        for (int row : lastRows) offsets.add(Json.array().add(row).add(Json.of(records.get(row).sourceOffset())));
        frame.set("offsets", offsets);
        if (partitions.size() > 1) {
            frame.put("hasPartitions", true);
            frame.buffers().add(partition.done());
        }
        if (hasFailures()) {
            // Places of single rows are asked for by failures only.
            for (ObjectNode one : failures) one.set("offset", Json.of(records.get(one.get("row").asInt()).sourceOffset()));
            frame.set("failures", Json.array().addAll(failures));
        }
        rows.finish(frame, records.size(), schemas);
        rows = null;
        partition = null;
        failures.clear();
        return frame;
    }

    int size() {
        return records.size();
    }

    /** Returns all records, in the order in which they were polled; null once they are forgotten. */
    List<SourceRecord> records() {
        return records;
    }

    /** Returns the last record of each source partition. */
    List<SourceRecord> lastRecords() {
        return lastRecords;
    }

    /** Forgets all records but the last of each source partition. */
    void forgetRecords() {
        records = null;
    }

    /** Returns the source offset of the last record; null if the task gave none. */
    Map<String, ?> lastOffset() {
        return records.get(records.size() - 1).sourceOffset();
    }

    /** Returns the position of each source partition after this. */
    Map<Map<String, ?>, Map<String, ?>> positions() {
        Map<Map<String, ?>, Map<String, ?>> found = new LinkedHashMap<>();
        int i = 0;
        for (Map<String, ?> source : partitions.keySet()) found.put(source, lastRecords.get(i++).sourceOffset());
        return found;
    }

    /** The rows that are left after the flow. */
    private static final class Rows {
        private final boolean isConverted;
        private final Out origin = new Out();
        private final Out topic = new Out();
        private final Out partition = new Out();
        private final Out timestamp = new Out();
        private final Validity hasTimestamp = new Validity();
        private final Map<String, Integer> topics = new LinkedHashMap<>();
        private final BinaryColumn keyBytes = new BinaryColumn();
        private final BinaryColumn valueBytes = new BinaryColumn();
        private final DataColumn keys = new DataColumn();
        private final DataColumn values = new DataColumn();
        private final HeaderColumn headers = new HeaderColumn();
        private boolean hasPartitions;
        private boolean hasTimestamps;
        private int size;

        Rows(boolean isConverted) {
            this.isConverted = isConverted;
        }

        int add(int row, SourceRecord record, Flow<SourceRecord> flow) throws Flow.StageFailure {
            if (!isConverted) return addValues(row, record);
            Flow.Bytes bytes = flow.toBytes(record);
            keyBytes.add(bytes.key());
            valueBytes.add(bytes.value());
            headers.add(bytes.headers().toArray());
            addPlace(row, record);
            return lengthOf(bytes.key()) + lengthOf(bytes.value());
        }

        int addValues(int row, SourceRecord record) {
            keys.add(record.keySchema(), record.key());
            values.add(record.valueSchema(), record.value());
            headers.add(record.headers());
            addPlace(row, record);
            return ASSUMED_LENGTH;
        }

        private void addPlace(int row, SourceRecord record) {
            origin.putInt(row);
            topic.putInt(record.topic() == null ? -1 : topics.computeIfAbsent(record.topic(), name -> topics.size()));
            hasPartitions |= record.kafkaPartition() != null;
            partition.putInt(record.kafkaPartition() == null ? NO_PARTITION : record.kafkaPartition());
            hasTimestamps |= record.timestamp() != null;
            hasTimestamp.add(record.timestamp() != null);
            timestamp.putLong(record.timestamp() == null ? 0 : record.timestamp());
            size++;
        }

        private static int lengthOf(byte[] bytes) {
            return bytes == null ? 0 : bytes.length;
        }

        void finish(Frame frame, int polled, Schemas schemas) {
            frame.put("rows", size);
            frame.set("topics", Json.of(topics.keySet()));
            frame.buffers().add(topic.done());
            if (size < polled) {
                frame.put("hasOrigin", true);
                frame.buffers().add(origin.done());
            }
            if (hasPartitions) {
                frame.put("hasKafkaPartitions", true);
                frame.buffers().add(partition.done());
            }
            if (hasTimestamps) {
                frame.put("hasTimestamps", true);
                frame.buffers().add(hasTimestamp.done());
                frame.buffers().add(timestamp.done());
            }
            if (isConverted) {
                keyBytes.finish(frame.buffers());
                valueBytes.finish(frame.buffers());
            } else {
                frame.set("key", keys.finish(frame, schemas));
                frame.set("value", values.finish(frame, schemas));
            }
            headers.finish(frame, schemas);
            schemas.attach(frame.header());
        }
    }
}
