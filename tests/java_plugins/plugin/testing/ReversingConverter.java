package testing;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.HeaderConverter;

/** Texts from their end. */
public class ReversingConverter implements Converter, HeaderConverter {
    @Override
    public void configure(Map<String, ?> settings, boolean isKey) {}

    @Override
    public void configure(Map<String, ?> settings) {}

    @Override
    public byte[] fromConnectData(String topic, Schema schema, Object value) {
        if (value == null) return null;
        if ("bad".equals(value)) throw new DataException("bad value");
        return new StringBuilder(value.toString()).reverse().toString().getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public SchemaAndValue toConnectData(String topic, byte[] value) {
        if (value == null) return SchemaAndValue.NULL;
        String text = new StringBuilder(new String(value, StandardCharsets.UTF_8)).reverse().toString();
        if (text.equals("bad")) throw new DataException("bad bytes");
        return new SchemaAndValue(Schema.STRING_SCHEMA, text);
    }

    @Override
    public SchemaAndValue toConnectHeader(String topic, String name, byte[] value) {
        return toConnectData(topic, value);
    }

    @Override
    public byte[] fromConnectHeader(String topic, String name, Schema schema, Object value) {
        return fromConnectData(topic, schema, value);
    }

    @Override
    public String version() {
        return "1.2.3";
    }

    @Override
    public ConfigDef config() {
        return new ConfigDef();
    }

    @Override
    public void close() {}
}
