package connectcore;

import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.SimpleFormatter;

/** Takes what plugins log through java.util.logging, as many drivers do. */
final class JulHandler extends Handler {
    private static final SimpleFormatter FORMATTER = new SimpleFormatter();

    static void install() {
        LogManager.getLogManager().reset();
        java.util.logging.Logger root = java.util.logging.Logger.getLogger("");
        root.setLevel(Level.INFO);
        root.addHandler(new JulHandler());
    }

    /** Lets through what any logger wants: else its messages would be made for nothing. */
    static void setLevel(int lowest) {
        Level level = lowest >= Log.INFO ? Level.INFO : lowest >= Log.DEBUG ? Level.FINE : Level.FINEST;
        java.util.logging.Logger.getLogger("").setLevel(level);
    }

    @Override
    public void publish(LogRecord record) {
        String logger = record.getLoggerName() == null ? "root" : record.getLoggerName();
        int level = level(record.getLevel().intValue());
        if (Log.isEnabled(logger, level)) Log.write(logger, level, FORMATTER.formatMessage(record), record.getThrown());
    }

    private static int level(int value) {
        if (value >= Level.SEVERE.intValue()) return Log.ERROR;
        if (value >= Level.WARNING.intValue()) return Log.WARN;
        if (value >= Level.INFO.intValue()) return Log.INFO;
        return value >= Level.FINE.intValue() ? Log.DEBUG : Log.TRACE;
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
}
