package connectcore;

import java.nio.ByteBuffer;

/** Arrow's validity bitmap; empty where nothing is null. */
final class Validity {
    private static final ByteBuffer NONE = ByteBuffer.allocate(0);

    private Out bits;
    private int size;

    void add(boolean isValid) {
        if (!isValid && bits == null) {
            bits = new Out();
            bits.fill(size / 8 + 1, 0xff);
        }
        if (bits != null) {
            if (size >> 3 >= bits.size()) bits.putByte(0xff);
            if (!isValid) bits.clearBit(size);
        }
        size++;
    }

    int size() {
        return size;
    }

    ByteBuffer done() {
        return bits == null ? NONE : bits.done();
    }
}
