package testing;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.config.Config;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.errors.RetriableException;
import org.apache.kafka.connect.header.ConnectHeaders;
import org.apache.kafka.connect.source.ConnectorTransactionBoundaries;
import org.apache.kafka.connect.source.ExactlyOnceSupport;
import org.apache.kafka.connect.source.SourceConnector;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTask;
import org.slf4j.LoggerFactory;

/** Counts from 1 to a limit, a number a record; misbehaves at a number in a way that is asked for. */
public class CountingSource extends SourceConnector {
    private Map<String, String> config;
    private Thread monitor;

    @Override
    public void start(Map<String, String> config) {
        this.config = config;
        if (config.get("fail.start") != null) throw new ConnectException("start failed with " + config.get("fail.start"));
        if ("true".equals(config.get("reconfigure"))) {
            monitor = new Thread(() -> context().requestTaskReconfiguration());
            monitor.setDaemon(true);
            monitor.start();
        }
    }

    @Override
    public Class<? extends Task> taskClass() {
        return CountingTask.class;
    }

    @Override
    public List<Map<String, String>> taskConfigs(int maxTasks) {
        List<Map<String, String>> found = new ArrayList<>();
        for (int task = 0; task < maxTasks; task++) {
            Map<String, String> own = new java.util.HashMap<>(config);
            own.put("task", Integer.toString(task));
            found.add(own);
        }
        return found;
    }

    @Override
    public void stop() {}

    @Override
    public ConfigDef config() {
        return new ConfigDef()
                .define("topic", ConfigDef.Type.STRING, ConfigDef.Importance.HIGH, "Where records go.")
                .define("limit", ConfigDef.Type.LONG, 10L, ConfigDef.Range.atLeast(0), ConfigDef.Importance.HIGH, "How far to count.")
                .define("secret", ConfigDef.Type.PASSWORD, null, ConfigDef.Importance.LOW, "Something not to be shown.")
                .define("mode", ConfigDef.Type.STRING, "", ConfigDef.Importance.LOW, "How to misbehave.");
    }

    @Override
    public Config validate(Map<String, String> config) {
        String secret = config.get("secret");
        switch (config.getOrDefault("mode", "")) {
            case "print-in-validate" -> {
                System.out.println("validating " + config);
                LoggerFactory.getLogger("testing").info("logged {}", config);
                LoggerFactory.getLogger("testing").info("failed", new ConnectException("thrown " + config));
            }
            case "print-much-in-validate" -> {
                // The secret lies across each place where long texts are cut.
                for (int length : new int[] {16_000, 16_384, 20_000, 32_384, 65_536}) {
                    String text = "x".repeat(length - secret.length() / 2) + secret;
                    System.out.println(text);
                    LoggerFactory.getLogger("testing").info(text);
                    LoggerFactory.getLogger("testing").info("long", new ConnectException(text));
                }
            }
            case "throw-in-validate" -> throw new ConnectException("validate failed with " + secret);
            default -> {}
        }
        return super.validate(config);
    }

    @Override
    public ExactlyOnceSupport exactlyOnceSupport(Map<String, String> config) {
        return "unknown".equals(config.get("support")) ? null : ExactlyOnceSupport.SUPPORTED;
    }

    @Override
    public ConnectorTransactionBoundaries canDefineTransactionBoundaries(Map<String, String> config) {
        return ConnectorTransactionBoundaries.SUPPORTED;
    }

    @Override
    public boolean alterOffsets(Map<String, String> config, Map<Map<String, ?>, Map<String, ?>> offsets) {
        if (config.get("refuse") != null) throw new ConnectException("these offsets are refused: " + offsets);
        return true;
    }

    @Override
    public String version() {
        return "1.2.3";
    }

    /** Its task; each has a source partition of its own. */
    public static class CountingTask extends SourceTask {
        private Map<String, String> config;
        private Map<String, String> partition;
        private long at;
        private long limit;
        private long trouble;
        private boolean hasRetried;
        private final List<byte[]> hoard = new ArrayList<>();

        @Override
        public void start(Map<String, String> config) {
            this.config = config;
            partition = Map.of("task", config.get("task"));
            Map<String, Object> offset = context.offsetStorageReader().offset(partition);
            at = offset == null ? 0 : (Long) offset.get("at");
            limit = Long.parseLong(config.getOrDefault("limit", "10"));
            trouble = Long.parseLong(config.getOrDefault("trouble.at", "5"));
            say("start " + at);
            if ("hang-start".equals(mode())) hang();
        }

        private String mode() {
            return config.getOrDefault("mode", "");
        }

        @Override
        public List<SourceRecord> poll() throws InterruptedException {
            if ("throw-in-poll".equals(mode()) && at >= trouble) throw new ConnectException("poll failed at " + at);
            if (at >= limit) {
                Thread.sleep(Long.parseLong(config.getOrDefault("pause", "20")));
                return null;
            }
            int size = Integer.parseInt(config.getOrDefault("batch", "3"));
            List<SourceRecord> records = new ArrayList<>();
            while (records.size() < size && at < limit) {
                at++;
                if (at == trouble) misbehave();
                SourceRecord record = record();
                records.add(record);
                if (context.transactionContext() != null) setBoundary(record);
            }
            return records;
        }

        private SourceRecord record() {
            ConnectHeaders headers = new ConnectHeaders();
            if ("headers".equals(mode())) headers.addLong("n", at).addString("s", "x" + at);
            // Two rows with the same, one without, then two with the same.
            if ("same-headers".equals(mode()) && at % 3 != 0) headers.addString("group", "g" + at / 3).addString("group", "x");
            Object value = "tombstones".equals(mode()) ? (at % 3 == 0 ? null : at % 3 == 1 ? "" : "row " + at) : "row " + at;
            Schema schema = value == null ? null : Schema.STRING_SCHEMA;
            return new SourceRecord(
                    partition, offset(at, at == limit), config.get("topic"), null, null, null, schema, value, null, headers);
        }

        protected Map<String, Object> offset(long at, boolean isLast) {
            return Map.of("at", at);
        }

        private void setBoundary(SourceRecord record) {
            if (at % 10 == 9) context.transactionContext().abortTransaction(record);
            else if (at % 5 == 0) context.transactionContext().commitTransaction(record);
        }

        private void misbehave() throws InterruptedException {
            switch (mode()) {
                case "print" -> {
                    for (int i = 0; i < 2000; i++) System.out.println("printed line " + i + " with " + config.get("secret"));
                    System.err.print("half a line");
                }
                case "exit" -> System.exit(7);
                case "halt" -> Runtime.getRuntime().halt(9);
                case "throw" -> throw new ConnectException("poll failed with " + config.get("secret"));
                case "error" -> throw new NoClassDefFoundError("some/Missing");
                case "retry" -> {
                    if (hasRetried) return;
                    hasRetried = true;
                    at--;
                    throw new RetriableException("not yet");
                }
                case "retry-in-client" -> {
                    if (hasRetried) return;
                    hasRetried = true;
                    at--;
                    throw new org.apache.kafka.common.errors.TimeoutException("not yet");
                }
                case "transient" -> throw new ConnectException("gone", new java.net.ConnectException("refused"));
                case "hoard" -> {
                    while (true) hoard.add(new byte[8 << 20]);
                }
                case "hang" -> hang();
                case "leak" -> {
                    for (int i = 0; i < 20; i++) new Thread(CountingTask::hang, "leaked " + i).start();
                }
                case "crash" -> crash();
                case "child" -> startChild();
                default -> { }
            }
        }

        private static void crash() {
            try {
                java.lang.reflect.Field field = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe");
                field.setAccessible(true);
                Object unsafe = field.get(null);
                unsafe.getClass().getMethod("putLong", long.class, long.class).invoke(unsafe, 0L, 1L);
            } catch (ReflectiveOperationException error) {
                throw new ConnectException(error);
            }
        }

        private static void startChild() {
            try {
                new ProcessBuilder("sleep", "300").start();
            } catch (java.io.IOException error) {
                throw new ConnectException(error);
            }
        }

        static void hang() {
            while (true) {
                try {
                    Thread.sleep(1000);
                } catch (InterruptedException error) {
                    // Nothing ends it.
                }
            }
        }

        @Override
        public void commitRecord(SourceRecord record, RecordMetadata metadata) {
            say("record " + record.sourceOffset().get("at") + (metadata == null ? " dropped" : " at " + metadata.offset()));
        }

        @Override
        public void commit() {
            say("commit");
        }

        @Override
        public void stop() {
            say("stop");
            if ("hang-stop".equals(mode())) hang();
        }

        /** Writes down what is called, where that is asked for. */
        private void say(String line) {
            String file = config.get("told");
            if (file == null) return;
            try {
                Files.write(Path.of(file), (line + "\n").getBytes(StandardCharsets.UTF_8), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            } catch (java.io.IOException error) {
                throw new ConnectException(error);
            }
        }

        @Override
        public String version() {
            return "1.2.3";
        }
    }
}
