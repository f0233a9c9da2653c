package connectcore;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.UncheckedIOException;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.connect.storage.OffsetStorageReader;

/** The committed source offsets of a connector, as its own code reads them. */
final class Offsets implements OffsetStorageReader {
    private final Map<String, Map<String, Object>> byPartition = new ConcurrentHashMap<>();

    /** Takes pairs of a source partition and its offset; null forgets one. */
    void update(JsonNode pairs) {
        for (JsonNode pair : pairs) put(Json.map(pair.get(0)), Json.map(pair.get(1)));
    }

    void put(Map<String, ?> partition, Map<String, Object> offset) {
        String key = canonical(partition);
        if (offset == null) byPartition.remove(key);
        else byPartition.put(key, offset);
    }

    @Override
    public <T> Map<String, Object> offset(Map<String, T> partition) {
        Map<String, Object> found = byPartition.get(canonical(partition));
        return found == null ? null : new HashMap<>(found);
    }

    @Override
    public <T> Map<Map<String, T>, Map<String, Object>> offsets(Collection<Map<String, T>> partitions) {
        Map<Map<String, T>, Map<String, Object>> found = new HashMap<>();
        for (Map<String, T> partition : partitions) {
            Map<String, Object> offset = offset(partition);
            if (offset != null) found.put(partition, offset);
        }
        return found;
    }

    static String canonical(Map<String, ?> partition) {
        try {
            return Json.MAPPER.writeValueAsString(partition);
        } catch (JsonProcessingException error) {
            throw new UncheckedIOException(error);
        }
    }
}
