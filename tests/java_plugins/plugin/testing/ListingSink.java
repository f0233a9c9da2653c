package testing;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.errors.RetriableException;
import org.apache.kafka.connect.sink.SinkConnector;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.sink.SinkTask;

/** Writes a line for each call and each record. */
public class ListingSink extends SinkConnector {
    private Map<String, String> config;

    @Override
    public void start(Map<String, String> config) {
        this.config = config;
    }

    @Override
    public Class<? extends Task> taskClass() {
        return ListingTask.class;
    }

    @Override
    public List<Map<String, String>> taskConfigs(int maxTasks) {
        return Collections.nCopies(maxTasks, config);
    }

    @Override
    public void stop() {}

    @Override
    public ConfigDef config() {
        return new ConfigDef().define("file", ConfigDef.Type.STRING, ConfigDef.Importance.HIGH, "Where lines go.");
    }

    @Override
    public String version() {
        return "1.2.3";
    }

    /** Its task; mode says what else it does. */
    public static class ListingTask extends SinkTask {
        private Map<String, String> config;
        private int puts;
        private final Map<TopicPartition, Long> kept = new HashMap<>();

        @Override
        public void start(Map<String, String> config) {
            this.config = config;
            say("start");
        }

        private String mode() {
            return config.getOrDefault("mode", "");
        }

        @Override
        public void open(Collection<TopicPartition> partitions) {
            say("open " + partitions);
            if (mode().equals("rewind")) context.offset(new TopicPartition(config.get("topics"), 0), 3);
        }

        @Override
        public void put(Collection<SinkRecord> records) {
            puts++;
            switch (mode()) {
                case "retry" -> {
                    if (puts % 2 == 1) {
                        context.timeout(10);
                        throw new RetriableException("not yet");
                    }
                }
                case "throw" -> throw new ConnectException("put failed");
                case "hang" -> CountingSource.CountingTask.hang();
                case "exit" -> System.exit(3);
                case "rewind-in-put" -> {
                    if (puts == 1) context.offset(new TopicPartition(config.get("topics"), 0), 0);
                }
                default -> { }
            }
            say("put " + records.size());
            for (SinkRecord record : records) {
                if (mode().equals("errant") && record.kafkaOffset() % 2 == 1) {
                    report(record);
                    continue;
                }
                say(line(record));
                kept.put(new TopicPartition(record.originalTopic(), record.originalKafkaPartition()), record.originalKafkaOffset() + 1);
            }
            if (mode().equals("request")) context.requestCommit();
        }

        private void report(SinkRecord record) {
            try {
                context.errantRecordReporter().report(record, new ConnectException("odd " + record.kafkaOffset())).get();
            } catch (ExecutionException | InterruptedException error) {
                throw new ConnectException("the report was refused", error);
            }
        }

        private static String line(SinkRecord record) {
            List<String> headers = new ArrayList<>();
            record.headers().forEach(one -> headers.add(one.key() + "=" + one.value()));
            return record.topic() + "-" + record.kafkaPartition() + "@" + record.kafkaOffset() + " " + record.key() + " " + record.value()
                    + (headers.isEmpty() ? "" : " " + headers);
        }

        @Override
        public Map<TopicPartition, OffsetAndMetadata> preCommit(Map<TopicPartition, OffsetAndMetadata> offsets) {
            say("preCommit " + offsets.values().stream().map(OffsetAndMetadata::offset).sorted().toList());
            if (mode().equals("behind")) {
                Map<TopicPartition, OffsetAndMetadata> found = new HashMap<>();
                offsets.forEach((one, offset) -> found.put(one, new OffsetAndMetadata(offset.offset() / 2)));
                return found;
            }
            return mode().equals("none") ? Map.of() : offsets;
        }

        @Override
        public void close(Collection<TopicPartition> partitions) {
            say("close " + partitions);
        }

        @Override
        public void stop() {
            say("stop");
        }

        private void say(String line) {
            try {
                Files.write(Path.of(config.get("file")), (line + "\n").getBytes(StandardCharsets.UTF_8), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            } catch (IOException error) {
                throw new ConnectException(error);
            }
        }

        @Override
        public String version() {
            return "1.2.3";
        }
    }
}
