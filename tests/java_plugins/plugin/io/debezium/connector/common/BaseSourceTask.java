package io.debezium.connector.common;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.connect.source.SourceRecord;
import testing.CountingSource;

/** Stands in for Debezium's class of this name: it writes down of which records it is notified. */
public class BaseSourceTask extends CountingSource.CountingTask {
    private String told;

    @Override
    public void start(Map<String, String> config) {
        super.start(config);
        told = config.get("told");
    }

    @Override
    public void commitRecord(SourceRecord record, RecordMetadata metadata) {
        try {
            String line = "last " + record.sourceOffset().get("at") + "\n";
            Files.writeString(Path.of(told), line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (java.io.IOException error) {
            throw new org.apache.kafka.connect.errors.ConnectException(error);
        }
    }
}
