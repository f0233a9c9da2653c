package connectcore;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.ILoggerFactory;
import org.slf4j.Logger;
import org.slf4j.helpers.FormattingTuple;
import org.slf4j.helpers.MarkerIgnoringBase;
import org.slf4j.helpers.MessageFormatter;

/** SLF4J's logger over the host's log. */
public final class HostLogger extends MarkerIgnoringBase {
    private static final long serialVersionUID = 1;
    private static final Map<String, Logger> KNOWN = new ConcurrentHashMap<>();

    private HostLogger(String name) {
        this.name = name;
    }

    public static ILoggerFactory factory() {
        return name -> KNOWN.computeIfAbsent(name, HostLogger::new);
    }

    private void log(int level, String format, Object... arguments) {
        if (!Log.isEnabled(name, level)) return;
        FormattingTuple found = MessageFormatter.arrayFormat(format, arguments);
        Log.write(name, level, found.getMessage(), found.getThrowable());
    }

    private void thrown(int level, String message, Throwable error) {
        if (Log.isEnabled(name, level)) Log.write(name, level, message, error);
    }

    @Override
    public boolean isTraceEnabled() {
        return Log.isEnabled(name, Log.TRACE);
    }

    @Override
    public void trace(String message) {
        thrown(Log.TRACE, message, null);
    }

    @Override
    public void trace(String format, Object argument) {
        log(Log.TRACE, format, argument);
    }

    @Override
    public void trace(String format, Object first, Object second) {
        log(Log.TRACE, format, first, second);
    }

    @Override
    public void trace(String format, Object... arguments) {
        log(Log.TRACE, format, arguments);
    }

    @Override
    public void trace(String message, Throwable error) {
        thrown(Log.TRACE, message, error);
    }

    @Override
    public boolean isDebugEnabled() {
        return Log.isEnabled(name, Log.DEBUG);
    }

    @Override
    public void debug(String message) {
        thrown(Log.DEBUG, message, null);
    }

    @Override
    public void debug(String format, Object argument) {
        log(Log.DEBUG, format, argument);
    }

    @Override
    public void debug(String format, Object first, Object second) {
        log(Log.DEBUG, format, first, second);
    }

    @Override
    public void debug(String format, Object... arguments) {
        log(Log.DEBUG, format, arguments);
    }

    @Override
    public void debug(String message, Throwable error) {
        thrown(Log.DEBUG, message, error);
    }

    @Override
    public boolean isInfoEnabled() {
        return Log.isEnabled(name, Log.INFO);
    }

    @Override
    public void info(String message) {
        thrown(Log.INFO, message, null);
    }

    @Override
    public void info(String format, Object argument) {
        log(Log.INFO, format, argument);
    }

    @Override
    public void info(String format, Object first, Object second) {
        log(Log.INFO, format, first, second);
    }

    @Override
    public void info(String format, Object... arguments) {
        log(Log.INFO, format, arguments);
    }

    @Override
    public void info(String message, Throwable error) {
        thrown(Log.INFO, message, error);
    }

    @Override
    public boolean isWarnEnabled() {
        return Log.isEnabled(name, Log.WARN);
    }

    @Override
    public void warn(String message) {
        thrown(Log.WARN, message, null);
    }

    @Override
    public void warn(String format, Object argument) {
        log(Log.WARN, format, argument);
    }

    @Override
    public void warn(String format, Object first, Object second) {
        log(Log.WARN, format, first, second);
    }

    @Override
    public void warn(String format, Object... arguments) {
        log(Log.WARN, format, arguments);
    }

    @Override
    public void warn(String message, Throwable error) {
        thrown(Log.WARN, message, error);
    }

    @Override
    public boolean isErrorEnabled() {
        return Log.isEnabled(name, Log.ERROR);
    }

    @Override
    public void error(String message) {
        thrown(Log.ERROR, message, null);
    }

    @Override
    public void error(String format, Object argument) {
        log(Log.ERROR, format, argument);
    }

    @Override
    public void error(String format, Object first, Object second) {
        log(Log.ERROR, format, first, second);
    }

    @Override
    public void error(String format, Object... arguments) {
        log(Log.ERROR, format, arguments);
    }

    @Override
    public void error(String message, Throwable error) {
        thrown(Log.ERROR, message, error);
    }
}
