package connectcore;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.EOFException;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;

/** Reads frames from one pipe and writes them to another; each frame is written whole. */
final class Wire {
    private static final int STAGING = 1 << 18;
    private static final int ALIGNMENT = 8;

    private final FileChannel input;
    private final FileChannel output;
    private final ByteBuffer received = direct();
    private final ByteBuffer sent = direct();

    Wire(FileInputStream input, FileOutputStream output) {
        this.input = input.getChannel();
        this.output = output.getChannel();
        received.limit(0);
    }

    /** Returns the next frame; only one thread reads. Throws EOFException when the other side is gone. */
    Frame read() throws IOException {
        ByteBuffer start = take(8);
        int headerLength = start.getInt();
        int count = start.getInt();
        ByteBuffer lengths = take(8 * count);
        ObjectNode header = (ObjectNode) Json.MAPPER.readTree(take(padded(headerLength)).array(), 0, headerLength);
        List<ByteBuffer> buffers = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            int length = Math.toIntExact(lengths.getLong());
            ByteBuffer buffer = take(padded(length));
            buffers.add(buffer.limit(length));
        }
        return new Frame(header, buffers);
    }

    synchronized void write(Frame frame) throws IOException {
        byte[] header = Json.MAPPER.writeValueAsBytes(frame.header());
        ByteBuffer start = ByteBuffer.allocate(8 + 8 * frame.buffers().size()).order(ByteOrder.LITTLE_ENDIAN);
        start.putInt(header.length).putInt(frame.buffers().size());
        for (ByteBuffer buffer : frame.buffers()) start.putLong(buffer.remaining());
        sent.clear();
        stage(start.flip());
        stage(ByteBuffer.wrap(header));
        pad(header.length);
        for (ByteBuffer buffer : frame.buffers()) {
            int length = buffer.remaining();
            stage(buffer.duplicate());
            pad(length);
        }
        drain();
    }

    private void stage(ByteBuffer data) throws IOException {
        while (data.hasRemaining()) {
            if (!sent.hasRemaining()) drain();
            int part = Math.min(sent.remaining(), data.remaining());
            sent.put(data.slice(data.position(), part));
            data.position(data.position() + part);
        }
    }

    private void pad(int length) throws IOException {
        stage(ByteBuffer.allocate(padded(length) - length));
    }

    private void drain() throws IOException {
        sent.flip();
        while (sent.hasRemaining()) output.write(sent);
        sent.clear();
    }

    /** Returns so many bytes in an array of their own. */
    private ByteBuffer take(int length) throws IOException {
        ByteBuffer target = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        while (target.hasRemaining()) {
            if (!received.hasRemaining()) {
                received.clear();
                int count = input.read(received);
                received.flip();
                if (count < 0) throw new EOFException();
            }
            int part = Math.min(target.remaining(), received.remaining());
            target.put(received.slice(received.position(), part));
            received.position(received.position() + part);
        }
        return target.flip();
    }

    private static int padded(int length) {
        return (length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }

    private static ByteBuffer direct() {
        return ByteBuffer.allocateDirect(STAGING).order(ByteOrder.LITTLE_ENDIAN);
    }
}
