package connectcore;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.connect.errors.RetriableException;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTask;

/**
 * A source task: polls ahead in a thread of its own, so that the next batch is ready when the last one is in Kafka.
 *
 * Connect: AbstractWorkerSourceTask. Each batch holds whole polls, and is kept until its transaction has committed.
 */
final class SourceLane implements Lane {
    private static final int AHEAD = 2;
    private static final long LAST_POLL_MILLIS = 1000;
    /** Batches whose records may still be asked for: the other side works on three at once, at most. */
    private static final int IN_WORK = 4;

    /** Of which records a task wants to hear that they are committed. */
    private enum Followed {
        NONE,
        LAST,
        EACH
    }

    /** How large a batch becomes, and how long records may wait for others. */
    private record Limits(int records, int bytes, long lingerNanos) {
        static Limits of(JsonNode spec) {
            long linger = TimeUnit.MILLISECONDS.toNanos(spec.get("lingerMillis").asLong());
            return new Limits(spec.get("records").asInt(), spec.get("bytes").asInt(), linger);
        }
    }

    private static final String DEBEZIUM_TASK = "io.debezium.connector.common.BaseSourceTask";

    private final SourceTask task;
    private final ClassLoader loader;
    private final Flow<SourceRecord> flow;
    private final Limits limits;
    private final Offsets offsets = new Offsets();
    private final Boundaries boundaries;
    private final Schemas schemas = new Schemas();
    private final BlockingQueue<Object> ready = new ArrayBlockingQueue<>(AHEAD);
    private final Deque<Polled> uncommitted = new ArrayDeque<>();
    private final Deque<Polled> inWork = new ArrayDeque<>();
    private final CompletableFuture<Void> started = new CompletableFuture<>();
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private final Snapshots snapshots;
    private final Map<String, String> config;
    private final Followed followed;
    private final Object asking = new Object();
    private long asked;
    private long polls;
    private volatile boolean isStopping;
    private volatile boolean hasStopped;

    /** Stands in the queue for polls that gave nothing. */
    private static final Object NOTHING = new Object();

    SourceLane(Frame request, Isolation isolation) throws Exception {
        JsonNode header = request.header();
        loader = isolation.loaderOf(request.text("connector"));
        config = Json.strings(header.get("config"));
        limits = Limits.of(header.get("limits"));
        offsets.update(header.get("offsets"));
        boundaries = header.path("boundaries").asBoolean() ? new Boundaries() : null;
        flow = Isolation.within(loader, () -> new Flow<>(header.get("flow"), loader));
        task = Isolation.make(request.text("task"), SourceTask.class, loader);
        followed = followed(task.getClass());
        snapshots = new Snapshots(request.text("connector"), config);
        Thread thread = new Thread(this::run, "task of " + request.text("name"));
        thread.setContextClassLoader(loader);
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public Frame handle(String op, Frame request) throws Throwable {
        return switch (op) {
            case "source.started" -> started();
            case "source.poll" -> poll(request.header().get("waitMillis").asLong());
            case "source.committed" -> committed(request);
            case "source.records" -> records(request);
            case "source.halt" -> halt();
            default -> throw new IllegalArgumentException(op);
        };
    }

    /** Returns whether a task wants to hear of each record that is committed, and where it is. */
    static boolean followsRecords(Class<?> task) throws NoSuchMethodException {
        return followed(task) == Followed.EACH;
    }

    private static Followed followed(Class<?> task) throws NoSuchMethodException {
        Class<?> found = task.getMethod("commitRecord", SourceRecord.class, RecordMetadata.class).getDeclaringClass();
        if (found == SourceTask.class) return Followed.NONE;
        // Debezium's own method takes note of the last offset of each source partition, and of nothing else.
        return found.getName().equals(DEBEZIUM_TASK) ? Followed.LAST : Followed.EACH;
    }

    private Frame started() throws Throwable {
        try {
            started.get();
            return null;
        } catch (ExecutionException error) {
            throw error.getCause();
        }
    }

    private void run() {
        try {
            task.initialize(new SourceContext(config, offsets, boundaries, Metrics.of(config.get("name"))));
            task.start(config);
            started.complete(null);
        } catch (Throwable error) {
            started.completeExceptionally(error);
            ended.complete(null);
            return;
        }
        try {
            while (!isStopping) pollIntoBatch();
        } catch (Throwable error) {
            offer(error);
        } finally {
            ended.complete(null);
        }
    }

    private void pollIntoBatch() throws Exception {
        Polled batch = new Polled(++polls, flow.hasConverters());
        long end = 0;
        while (!isStopping) {
            List<SourceRecord> records;
            try {
                records = pollTask();
            } catch (Throwable error) {
                // What was polled before counts, as in Connect.
                if (!batch.isEmpty()) offer(batch);
                throw error;
            }
            if (records == null || records.isEmpty()) {
                if (!batch.isEmpty()) break;
                if (ready.isEmpty()) tellNothing();
                continue;
            }
            if (batch.isEmpty()) end = System.nanoTime() + limits.lingerNanos();
            if (boundaries != null) {
                batch = addWithBoundaries(batch, records);
                if (batch.isEmpty()) return;
            } else {
                for (SourceRecord record : records) batch.add(record, flow);
            }
            boolean isFull = batch.size() >= limits.records() || batch.bytes >= limits.bytes();
            if (isFull || batch.hasFailures() || System.nanoTime() >= end || boundaries != null) break;
        }
        if (!batch.isEmpty()) offer(batch);
    }

    /** Says that there is nothing, and waits to be asked again: the other side may end here, and a poll may take long. */
    private void tellNothing() throws InterruptedException {
        synchronized (asking) {
            long before = asked;
            ready.offer(NOTHING);
            while (asked == before && !isStopping) asking.wait(100);
        }
    }

    /** Cuts a poll where the task ends transactions; returns what comes after the last cut. */
    private Polled addWithBoundaries(Polled first, List<SourceRecord> records) {
        Polled batch = first;
        for (SourceRecord record : records) {
            batch.add(record, flow);
            String boundary = boundaries.take(record);
            if (boundary == null) continue;
            batch.boundary = boundary;
            offer(batch);
            batch = new Polled(++polls, flow.hasConverters());
        }
        String last = boundaries.takeBatch();
        if (last != null && !batch.isEmpty()) batch.boundary = last;
        return batch;
    }

    private List<SourceRecord> pollTask() throws Exception {
        try {
            return task.poll();
        } catch (RetriableException | org.apache.kafka.common.errors.RetriableException error) {
            Log.warn(SourceLane.class, task.getClass().getName() + ".poll failed, it is called again", error);
            Thread.sleep(500);
            return null;
        }
    }

    private void offer(Object one) {
        try {
            while (!isStopping && !ready.offer(one, 100, TimeUnit.MILLISECONDS)) continue;
            if (isStopping) ready.offer(one);
        } catch (InterruptedException error) {
            isStopping = true;
        }
    }

    /** Answers with the next batch, or with nothing when the source has none or the time is over. */
    private Frame poll(long waitMillis) throws Throwable {
        synchronized (asking) {
            asked++;
            asking.notifyAll();
        }
        Object next = take(waitMillis);
        if (next instanceof Throwable error) throw error;
        if (!(next instanceof Polled batch)) {
            Frame none = new Frame(Json.object()).put("polled", 0).put("answered", next == NOTHING);
            if (next == NOTHING) snapshots.gaveNothing();
            return none.put("busy", snapshots.isRunning());
        }
        synchronized (uncommitted) {
            uncommitted.add(batch);
            inWork.add(batch);
            Polled oldest = inWork.size() > IN_WORK ? inWork.remove() : null;
            if (oldest != null && followed != Followed.EACH) oldest.forgetRecords();
        }
        Frame frame = batch.toFrame(schemas);
        if (batch.boundary != null) frame.put("boundary", batch.boundary);
        snapshots.gave(batch.lastOffset());
        return frame.put("busy", snapshots.isRunning());
    }

    private Object take(long waitMillis) throws Throwable {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(waitMillis);
        while (true) {
            Object next = ready.poll(20, TimeUnit.MILLISECONDS);
            if (next != null || System.nanoTime() >= end || ended.isDone() && ready.isEmpty()) return next;
        }
    }

    /** Tells the task that all batches up to a number are in Kafka, or were dropped on its own wish. */
    private Frame committed(Frame request) throws Exception {
        long number = request.header().get("number").asLong();
        Places places = new Places(request);
        return Isolation.within(loader, () -> {
            while (true) {
                Polled batch;
                synchronized (uncommitted) {
                    batch = uncommitted.peek();
                    if (batch == null || batch.number > number) break;
                    uncommitted.remove();
                }
                if (followed == Followed.EACH) {
                    for (SourceRecord record : batch.records()) task.commitRecord(record, places.next());
                } else if (followed == Followed.LAST) {
                    for (SourceRecord record : batch.lastRecords()) task.commitRecord(record, null);
                }
                batch.positions().forEach((partition, offset) -> offsets.put(partition, Json.map(Json.of(offset))));
            }
            if (request.header().path("commit").asBoolean(true)) task.commit();
            return null;
        });
    }

    /** Where records landed, for tasks that ask for it. */
    private static final class Places {
        private final ByteBuffer topics;
        private final ByteBuffer partitions;
        private final ByteBuffer positions;
        private final ByteBuffer timestamps;
        private final JsonNode names;
        private int next;

        Places(Frame request) {
            names = request.header().get("topics");
            boolean isKnown = names != null;
            topics = isKnown ? request.buffers().get(0) : null;
            partitions = isKnown ? request.buffers().get(1) : null;
            positions = isKnown ? request.buffers().get(2) : null;
            timestamps = isKnown ? request.buffers().get(3) : null;
        }

        RecordMetadata next() {
            if (topics == null) return null;
            int row = next++;
            int topic = topics.getInt(4 * row);
            if (topic < 0) return null;
            TopicPartition partition = new TopicPartition(names.get(topic).asText(), partitions.getInt(4 * row));
            return new RecordMetadata(partition, positions.getLong(8 * row), 0, timestamps.getLong(8 * row), -1, -1);
        }
    }

    /** Answers with some records as they were polled, for dead letters. */
    private Frame records(Frame request) throws Throwable {
        long number = request.header().get("number").asLong();
        Polled found = null;
        synchronized (uncommitted) {
            for (Polled batch : uncommitted) if (batch.number == number) found = batch;
        }
        if (found == null || found.records() == null) throw new IllegalStateException("Batch " + number + " is over");
        Polled some = new Polled(number, false);
        for (JsonNode row : request.header().get("rows")) some.addUnchanged(found.records().get(row.asInt()));
        return some.toFrame(new Schemas());
    }

    /** Ends polling; the task is stopped only where its last poll does not return. */
    private Frame halt() throws InterruptedException {
        isStopping = true;
        flow.stop();
        if (!waitForEnd(LAST_POLL_MILLIS)) {
            stopTask();
            waitForEnd(Long.MAX_VALUE / 2);
        }
        return null;
    }

    @Override
    public void stop() throws Exception {
        halt();
        stopTask();
        flow.close();
    }

    private boolean waitForEnd(long millis) throws InterruptedException {
        try {
            ended.get(millis, TimeUnit.MILLISECONDS);
            return true;
        } catch (java.util.concurrent.TimeoutException | ExecutionException error) {
            return false;
        }
    }

    /** Stops the task, once. */
    private void stopTask() {
        synchronized (started) {
            if (hasStopped) return;
            hasStopped = true;
        }
        try {
            Isolation.within(loader, () -> {
                task.stop();
                return null;
            });
        } catch (Exception error) {
            Log.warn(SourceLane.class, task.getClass().getName() + " could not be stopped", error);
        }
    }
}
