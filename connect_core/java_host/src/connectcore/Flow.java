package connectcore;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.errors.RetriableException;
import org.apache.kafka.connect.header.ConnectHeaders;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.header.Headers;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.ConverterConfig;
import org.apache.kafka.connect.storage.ConverterType;
import org.apache.kafka.connect.storage.HeaderConverter;
import org.apache.kafka.connect.transforms.Transformation;
import org.apache.kafka.connect.transforms.predicates.Predicate;

/**
 * The transforms of a chain and its converters, where they are Java's: what stands between a connector and bytes.
 *
 * Connect: TransformationStage, RetryWithToleranceOperator.
 */
final class Flow<R extends ConnectRecord<R>> implements AutoCloseable {
    private static final long FIRST_DELAY = 300;

    /** One transform, guarded by a predicate or not. */
    private record Stage<R extends ConnectRecord<R>>(
            Transformation<R> transformation, Predicate<R> predicate, boolean negate, ClassLoader loader) {}

    /** Tells where a record failed: a stage's number, or key, value or header for its converter. */
    static final class StageFailure extends Exception {
        private static final long serialVersionUID = 1;

        final String stage;
        final int attempts;

        StageFailure(String stage, Throwable cause, int attempts) {
            super(null, cause, false, false);
            this.stage = stage;
            this.attempts = attempts;
        }
    }

    /** Bytes of a record. */
    record Bytes(byte[] key, byte[] value, RecordHeaders headers) {}

    /** What the bytes of a record mean. */
    record Meaning(SchemaAndValue key, SchemaAndValue value, Headers headers) {}

    private final List<Stage<R>> stages = new ArrayList<>();
    private final long retryMillis;
    private final long longestDelay;
    private Converter key;
    private Converter value;
    private HeaderConverter header;
    private volatile boolean isStopping;

    Flow(JsonNode spec, ClassLoader loader) throws Exception {
        retryMillis = spec.path("retryMillis").asLong(0);
        longestDelay = spec.path("longestDelay").asLong(60_000);
        for (JsonNode one : spec.path("stages")) stages.add(stage(one, loader));
        if (!spec.hasNonNull("key")) return;
        key = converter(spec.get("key"), true, loader);
        value = converter(spec.get("value"), false, loader);
        header = headerConverter(spec.get("header"), loader);
    }

    @SuppressWarnings("unchecked")
    private Stage<R> stage(JsonNode spec, ClassLoader loader) throws Exception {
        Transformation<R> made = Isolation.make(spec.get("class").asText(), Transformation.class, loader);
        ClassLoader own = made.getClass().getClassLoader();
        configured(own, () -> made.configure(settings(spec)));
        if (!spec.hasNonNull("predicate")) return new Stage<>(made, null, false, own);
        Predicate<R> predicate = (Predicate<R>) predicate(spec.get("predicate"), loader);
        return new Stage<>(made, predicate, spec.path("negate").asBoolean(), own);
    }

    static Predicate<?> predicate(JsonNode spec, ClassLoader loader) throws Exception {
        Predicate<?> made = Isolation.make(spec.get("class").asText(), Predicate.class, loader);
        configured(made.getClass().getClassLoader(), () -> made.configure(settings(spec)));
        return made;
    }

    static Converter converter(JsonNode spec, boolean isKey, ClassLoader loader) throws Exception {
        Converter made = Isolation.make(spec.get("class").asText(), Converter.class, loader);
        configured(made.getClass().getClassLoader(), () -> made.configure(settings(spec), isKey));
        return made;
    }

    static HeaderConverter headerConverter(JsonNode spec, ClassLoader loader) throws Exception {
        HeaderConverter made = Isolation.make(spec.get("class").asText(), HeaderConverter.class, loader);
        Map<String, Object> settings = settings(spec);
        settings.put(ConverterConfig.TYPE_CONFIG, ConverterType.HEADER.getName());
        configured(made.getClass().getClassLoader(), () -> made.configure(settings));
        return made;
    }

    private static void configured(ClassLoader loader, Runnable configure) throws Exception {
        Isolation.within(loader, () -> {
            configure.run();
            return null;
        });
    }

    private static Map<String, Object> settings(JsonNode spec) {
        return new HashMap<>(Json.strings(spec.get("config")));
    }

    boolean hasConverters() {
        return key != null;
    }

    /** Returns what the transforms make of a record; null where one drops it. */
    R transform(R record) throws StageFailure {
        R current = record;
        for (int i = 0; i < stages.size() && current != null; i++) {
            Stage<R> stage = stages.get(i);
            R given = current;
            current = attempt(i, () -> apply(stage, given));
        }
        return current;
    }

    private R apply(Stage<R> stage, R record) throws Exception {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(stage.loader());
        try {
            if (stage.predicate() != null && stage.predicate().test(record) == stage.negate()) return record;
            return stage.transformation().apply(record);
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    /** Returns the bytes of a record; headers are converted first, as converters may add some. */
    Bytes toBytes(ConnectRecord<?> record) throws StageFailure {
        String topic = record.topic();
        RecordHeaders headers = attempt("header", () -> headers(topic, record.headers()));
        byte[] keyBytes = attempt("key", () -> key.fromConnectData(topic, headers, record.keySchema(), record.key()));
        byte[] valueBytes =
                attempt("value", () -> value.fromConnectData(topic, headers, record.valueSchema(), record.value()));
        return new Bytes(keyBytes, valueBytes, headers);
    }

    private RecordHeaders headers(String topic, Headers headers) {
        RecordHeaders found = new RecordHeaders();
        for (Header one : headers) {
            found.add(one.key(), header.fromConnectHeader(topic, one.key(), one.schema(), one.value()));
        }
        return found;
    }

    Meaning toMeaning(String topic, Bytes bytes) throws StageFailure {
        RecordHeaders raw = bytes.headers();
        SchemaAndValue keyData = attempt("key", () -> key.toConnectData(topic, raw, bytes.key()));
        SchemaAndValue valueData = attempt("value", () -> value.toConnectData(topic, raw, bytes.value()));
        Headers headers = attempt("header", () -> meaning(topic, raw));
        return new Meaning(keyData, valueData, headers);
    }

    private Headers meaning(String topic, RecordHeaders raw) {
        Headers found = new ConnectHeaders();
        for (org.apache.kafka.common.header.Header one : raw) {
            found.add(one.key(), header.toConnectHeader(topic, one.key(), one.value()));
        }
        return found;
    }

    private <T> T attempt(int stage, Callable<T> operation) throws StageFailure {
        try {
            return operation.call();
        } catch (Throwable error) {
            return again(Integer.toString(stage), operation, error);
        }
    }

    private <T> T attempt(String stage, Callable<T> operation) throws StageFailure {
        try {
            return operation.call();
        } catch (Throwable error) {
            return again(stage, operation, error);
        }
    }

    /** Repeats a failed operation while it is retriable and errors.retry.timeout is not over. */
    private <T> T again(String stage, Callable<T> operation, Throwable first) throws StageFailure {
        long began = System.currentTimeMillis();
        Throwable error = first;
        int attempts = 1;
        while (error instanceof RetriableException && mayRetry(began, attempts)) {
            attempts++;
            try {
                return operation.call();
            } catch (Throwable next) {
                error = next;
            }
        }
        if (!Failures.isOfOneRecord(error)) throw (Error) error;
        throw new StageFailure(stage, error, attempts);
    }

    private boolean mayRetry(long began, int attempts) {
        long left = retryMillis - (System.currentTimeMillis() - began);
        if (isStopping || (retryMillis >= 0 && left <= 0)) return false;
        long delay = FIRST_DELAY << Math.min(attempts - 1, 20);
        if (delay > longestDelay) delay = ThreadLocalRandom.current().nextLong(Math.max(1, longestDelay));
        long end = System.currentTimeMillis() + (retryMillis < 0 ? delay : Math.min(delay, left));
        try {
            while (!isStopping && System.currentTimeMillis() < end) Thread.sleep(50);
        } catch (InterruptedException error) {
            return false;
        }
        return !isStopping;
    }

    /** Ends waiting for another try. */
    void stop() {
        isStopping = true;
    }

    @Override
    public void close() {
        stop();
        for (Stage<R> stage : stages) {
            quietly(stage.transformation());
            if (stage.predicate() != null) quietly(stage.predicate());
        }
        for (Object one : new Object[] {key, value, header}) {
            if (one instanceof AutoCloseable closeable) quietly(closeable);
        }
    }

    static void quietly(AutoCloseable one) {
        try {
            Isolation.within(one.getClass().getClassLoader(), () -> {
                one.close();
                return null;
            });
        } catch (Exception error) {
            Log.warn(Flow.class, one.getClass().getName() + " could not be closed", error);
        }
    }
}
