package connectcore;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Log lines as JSON on standard error, behind a mark: the other side gives them to its own loggers. */
public final class Log {
    /** Levels as their numbers in Python. */
    public static final int TRACE = 5;
    public static final int DEBUG = 10;
    public static final int INFO = 20;
    public static final int WARN = 30;
    public static final int ERROR = 40;

    private static final byte MARK = 0x1e;
    private static final int LONGEST_MESSAGE = 16_000;

    /** What is sent beyond it: secrets are removed on the other side, before it cuts, so that none is shown in part. */
    private static final int MARGIN = 16_384;

    private static final String ROOT = "root";
    private static final FileOutputStream OUTPUT = new FileOutputStream(FileDescriptor.err);

    private static volatile Map<String, Integer> levels = Map.of(ROOT, INFO);
    private static volatile Map<String, Integer> effective = new ConcurrentHashMap<>();

    private Log() {}

    /** Sets all levels: those of the named loggers, and of root for all others. */
    static void setLevels(Map<String, Integer> wanted) {
        levels = Map.copyOf(wanted);
        effective = new ConcurrentHashMap<>();
        JulHandler.setLevel(wanted.values().stream().mapToInt(Integer::intValue).min().orElse(INFO));
    }

    public static boolean isEnabled(String logger, int level) {
        return level >= effective.computeIfAbsent(logger, Log::effectiveLevel);
    }

    private static int effectiveLevel(String logger) {
        Map<String, Integer> known = levels;
        for (String name = logger; !name.isEmpty(); name = name.substring(0, Math.max(0, name.lastIndexOf('.')))) {
            Integer found = known.get(name);
            if (found != null) return found;
        }
        return known.getOrDefault(ROOT, INFO);
    }

    public static void write(String logger, int level, String message, Throwable error) {
        ObjectNode line = message(message).put("level", level).put("logger", logger);
        if (error != null) line.put("trace", Failures.trace(error));
        send(line);
    }

    private static ObjectNode message(String text) {
        ObjectNode line = Json.object().put("longest", LONGEST_MESSAGE);
        if (text == null || text.length() <= LONGEST_MESSAGE + MARGIN) return line.put("message", text);
        return line.put("message", text.substring(0, LONGEST_MESSAGE + MARGIN)).put("margin", MARGIN);
    }

    private static void send(ObjectNode line) {
        byte[] text = (line + "\n").getBytes(StandardCharsets.UTF_8);
        byte[] marked = new byte[text.length + 1];
        marked[0] = MARK;
        System.arraycopy(text, 0, marked, 1, text.length);
        synchronized (OUTPUT) {
            try {
                OUTPUT.write(marked);
            } catch (IOException gone) {
                // Nobody reads any more: the host is about to end.
            }
        }
    }

    /** Returns where plugins print to: whole lines, so that none gets into another; of long ones the rest is left out. */
    static PrintStream prints() {
        return new PrintStream(new Lines(), true, StandardCharsets.UTF_8);
    }

    /** Bytes up to the end of a line, written at once. */
    private static final class Lines extends OutputStream {
        private static final int LONGEST = 4 * (LONGEST_MESSAGE + MARGIN + 1);

        private final ByteArrayOutputStream line = new ByteArrayOutputStream();

        @Override
        public synchronized void write(int one) {
            if (one == '\n') {
                send(message(line.toString(StandardCharsets.UTF_8)));
                line.reset();
            } else if (line.size() < LONGEST) {
                line.write(one);
            }
        }
    }

    static void warn(Class<?> logger, String message, Throwable error) {
        if (isEnabled(logger.getName(), WARN)) write(logger.getName(), WARN, message, error);
    }
}
