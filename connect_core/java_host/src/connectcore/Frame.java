package connectcore;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** One message: a JSON header and any number of buffers. See the protocol in README.md. */
record Frame(ObjectNode header, List<ByteBuffer> buffers) {

    Frame(ObjectNode header) {
        this(header, new ArrayList<>());
    }

    /** Returns a text of the header, or null. */
    String text(String name) {
        JsonNode found = header.get(name);
        return found == null || found.isNull() ? null : found.asText();
    }

    Frame put(String name, String value) {
        header.put(name, value);
        return this;
    }

    Frame put(String name, long value) {
        header.put(name, value);
        return this;
    }

    Frame put(String name, boolean value) {
        header.put(name, value);
        return this;
    }

    Frame set(String name, JsonNode value) {
        header.set(name, value);
        return this;
    }
}
