package connectcore;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientException;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.errors.NotFoundException;
import org.apache.kafka.connect.errors.RetriableException;

/** What a plugin threw, as the other side is told of it. */
final class Failures {
    private static final int LONGEST_TRACE = 20_000;
    private static final int LONGEST_LINE = 4_000;
    private static final int DEEPEST_CAUSE = 20;

    private Failures() {}

    static ObjectNode toJson(Throwable error) {
        return Json.object()
                .put("class", error.getClass().getName())
                .put("message", error.getMessage())
                .put("trace", trace(error))
                .put("kind", kind(error));
    }

    /** Returns the stack trace, cut at the end of a line: secrets are removed on the other side, and whole ones only. */
    static String trace(Throwable error) {
        StringWriter trace = new StringWriter();
        error.printStackTrace(new PrintWriter(trace));
        String text = trace.toString();
        if (text.length() <= LONGEST_TRACE) return text;
        StringBuilder kept = new StringBuilder();
        for (String line : (Iterable<String>) text.lines()::iterator) {
            String shown = line.length() <= LONGEST_LINE ? line : "... (a line of " + line.length() + " characters)";
            if (kept.length() + shown.length() > LONGEST_TRACE) return kept.append("\t... (cut)").toString();
            kept.append(shown).append('\n');
        }
        return kept.toString();
    }

    /** Returns what may be done: call again, skip the record, correct a setting, make a new attempt, or nothing. */
    private static String kind(Throwable error) {
        if (error instanceof RetriableException) return "retriable";
        if (error instanceof DataException) return "data";
        if (error instanceof ConfigException) return "config";
        if (error instanceof NotFoundException) return "not-found";
        Throwable cause = error;
        for (int depth = 0; cause != null && depth < DEEPEST_CAUSE; depth++, cause = cause.getCause()) {
            if (isTransient(cause)) return "transient";
        }
        return "fatal";
    }

    private static boolean isTransient(Throwable error) {
        return error instanceof IOException
                || error instanceof TimeoutException
                || error instanceof SQLTransientException
                || error instanceof SQLRecoverableException
                || error instanceof org.apache.kafka.common.errors.RetriableException
                || error instanceof RetriableException;
    }

    /** Returns whether it can be told as the failure of one record; what the machine lacks cannot. */
    static boolean isOfOneRecord(Throwable error) {
        return !(error instanceof VirtualMachineError) && !(error instanceof ThreadDeath);
    }
}
