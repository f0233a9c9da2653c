package connectcore;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Bytes that grow, little endian. */
final class Out {
    private byte[] bytes;
    private ByteBuffer view;
    private int size;

    Out(int capacity) {
        bytes = new byte[capacity];
        view = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    Out() {
        this(1 << 10);
    }

    int size() {
        return size;
    }

    void putByte(int value) {
        room(1);
        bytes[size++] = (byte) value;
    }

    void putShort(int value) {
        room(2);
        view.putShort(size, (short) value);
        size += 2;
    }

    void putInt(int value) {
        room(4);
        view.putInt(size, value);
        size += 4;
    }

    void putLong(long value) {
        room(8);
        view.putLong(size, value);
        size += 8;
    }

    void put(byte[] value) {
        put(value, 0, value.length);
    }

    void put(byte[] value, int from, int length) {
        room(length);
        System.arraycopy(value, from, bytes, size, length);
        size += length;
    }

    void put(ByteBuffer value) {
        int length = value.remaining();
        room(length);
        value.duplicate().get(bytes, size, length);
        size += length;
    }

    void fill(int length, int value) {
        room(length);
        Arrays.fill(bytes, size, size + length, (byte) value);
        size += length;
    }

    /** Clears one bit, the lowest of a byte first. */
    void clearBit(int index) {
        bytes[index >> 3] &= (byte) ~(1 << (index & 7));
    }

    void setBit(int index) {
        bytes[index >> 3] |= (byte) (1 << (index & 7));
    }

    /** Returns what was written, without a copy: write nothing more. */
    ByteBuffer done() {
        return ByteBuffer.wrap(bytes, 0, size).order(ByteOrder.LITTLE_ENDIAN);
    }

    private void room(int more) {
        if (more > bytes.length - size) {
            long wanted = Math.max((long) bytes.length * 2, (long) size + more);
            bytes = Arrays.copyOf(bytes, (int) Math.min(wanted, Integer.MAX_VALUE - 8));
            view = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        }
    }
}
