package testing;

import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.errors.RetriableException;
import org.apache.kafka.connect.transforms.Transformation;
import org.apache.kafka.connect.transforms.predicates.Predicate;

/** Puts texts in capitals; refuses one, drops another. */
public class Shout<R extends ConnectRecord<R>> implements Transformation<R> {
    private String refused;
    private String dropped;
    private int tries;

    @Override
    public void configure(Map<String, ?> settings) {
        refused = (String) settings.get("refused");
        dropped = (String) settings.get("dropped");
        if (settings.get("print") != null) System.out.println("configured with " + settings.get("print"));
        if (settings.get("bad") != null) throw new ConnectException("bad settings");
    }

    @Override
    public R apply(R record) {
        if (!(record.value() instanceof String text)) return record;
        if (text.equals(dropped)) return null;
        if (text.equals(refused)) throw new DataException("refused: " + text);
        if (text.equals("later") && tries++ < 2) throw new RetriableException("later");
        return record.newRecord(record.topic(), record.kafkaPartition(), record.keySchema(), record.key(),
                record.valueSchema(), text.toUpperCase(), record.timestamp());
    }

    @Override
    public ConfigDef config() {
        return new ConfigDef()
                .define("refused", ConfigDef.Type.STRING, null, ConfigDef.Importance.LOW, "Text to refuse.")
                .define("dropped", ConfigDef.Type.STRING, null, ConfigDef.Importance.LOW, "Text to drop.")
                .define("volume", ConfigDef.Type.INT, 1, ConfigDef.Range.between(1, 11), ConfigDef.Importance.LOW, "How loud.");
    }

    @Override
    public void close() {}

    /** Holds for texts that begin with a letter. */
    public static class Begins<R extends ConnectRecord<R>> implements Predicate<R> {
        private String with;

        @Override
        public void configure(Map<String, ?> settings) {
            with = (String) settings.get("with");
        }

        @Override
        public boolean test(R record) {
            return record.value() instanceof String text && text.startsWith(with);
        }

        @Override
        public ConfigDef config() {
            return new ConfigDef().define("with", ConfigDef.Type.STRING, ConfigDef.Importance.HIGH, "The letter.");
        }

        @Override
        public void close() {}
    }
}
