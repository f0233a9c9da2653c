package connectcore;

import java.nio.ByteBuffer;
import java.util.List;

/** A column of byte arrays as Arrow lays it out: validity, 32-bit offsets, data. */
final class BinaryColumn {
    private final Validity validity = new Validity();
    private final Out offsets = new Out();
    private final Out data = new Out();

    BinaryColumn() {
        offsets.putInt(0);
    }

    void add(byte[] value) {
        validity.add(value != null);
        if (value != null) data.put(value);
        offsets.putInt(data.size());
    }

    void add(ByteBuffer value) {
        validity.add(true);
        data.put(value);
        offsets.putInt(data.size());
    }

    int bytes() {
        return data.size();
    }

    void finish(List<ByteBuffer> buffers) {
        buffers.add(validity.done());
        buffers.add(offsets.done());
        buffers.add(data.done());
    }
}
