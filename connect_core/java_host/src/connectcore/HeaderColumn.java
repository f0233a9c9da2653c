package connectcore;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Iterator;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.header.ConnectHeaders;
import org.apache.kafka.connect.header.Headers;

/**
 * The headers of a batch: how many each row has, their names, and their bytes or values. Absent where there are none.
 *
 * Converted ones that are those of the row before are not repeated: some sources give all records the same.
 */
final class HeaderColumn {
    private static final int AS_BEFORE = -1;

    private final Out counts = new Out();
    private final BinaryColumn names = new BinaryColumn();
    private final BinaryColumn bytes = new BinaryColumn();
    private final DataColumn values = new DataColumn();
    private Header[] last;
    private int size;
    private boolean isConverted;

    void add(Header[] headers) {
        isConverted = true;
        if (headers.length > 0 && isSame(headers, last)) {
            counts.putInt(AS_BEFORE);
            return;
        }
        last = headers;
        counts.putInt(headers.length);
        for (Header one : headers) {
            names.add(one.key().getBytes(StandardCharsets.UTF_8));
            bytes.add(one.value());
        }
        size += headers.length;
    }

    private static boolean isSame(Header[] headers, Header[] others) {
        if (others == null || headers.length != others.length) return false;
        for (int i = 0; i < headers.length; i++) {
            if (!headers[i].key().equals(others[i].key())) return false;
            if (!Arrays.equals(headers[i].value(), others[i].value())) return false;
        }
        return true;
    }

    void add(Headers headers) {
        counts.putInt(headers.size());
        for (org.apache.kafka.connect.header.Header one : headers) {
            names.add(one.key().getBytes(StandardCharsets.UTF_8));
            values.add(one.schema(), one.value());
        }
        size += headers.size();
    }

    void finish(Frame frame, Schemas schemas) {
        if (size == 0) return;
        frame.put("headers", size);
        frame.buffers().add(counts.done());
        names.finish(frame.buffers());
        if (isConverted) bytes.finish(frame.buffers());
        else frame.set("headerValues", values.finish(frame, schemas));
    }

    /** The headers of the other side's batch, row by row. */
    static final class Reader {
        private final ByteBuffer counts;
        private final ColumnReader.Binaries names;
        private final ColumnReader.Binaries bytes;
        private final DataColumn.Reader values;
        private int next;

        Reader(Frame frame, Iterator<ByteBuffer> buffers, Schemas schemas) {
            int size = frame.header().path("headers").asInt(0);
            counts = size == 0 ? null : buffers.next();
            names = size == 0 ? null : new ColumnReader.Binaries(buffers);
            boolean isConverted = !frame.header().hasNonNull("headerValues");
            bytes = size == 0 || !isConverted ? null : new ColumnReader.Binaries(buffers);
            values = size == 0 || isConverted
                    ? null
                    : DataColumn.read(frame.header().get("headerValues"), size, buffers, schemas);
        }

        /** Returns the bytes of a row's headers; rows are read in order. */
        RecordHeaders bytes(int row) {
            RecordHeaders found = new RecordHeaders();
            for (int i = count(row); i > 0; i--, next++) found.add(name(), (byte[]) bytes.get(next));
            return found;
        }

        /** Returns the values of a row's headers; rows are read in order. */
        Headers values(int row) {
            Headers found = new ConnectHeaders();
            for (int i = count(row); i > 0; i--, next++) {
                found.add(name(), new SchemaAndValue(values.schema(next), values.value(next)));
            }
            return found;
        }

        private int count(int row) {
            return counts == null ? 0 : counts.order(ByteOrder.LITTLE_ENDIAN).getInt(4 * row);
        }

        private String name() {
            return new String(names.bytes(next), StandardCharsets.UTF_8);
        }
    }
}
