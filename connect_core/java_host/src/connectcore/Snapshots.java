package connectcore;

import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.Set;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * Whether a Debezium connector takes a snapshot, which it cannot resume: it would begin again at the first row. Or
 * whether it has not yet come to the place where it left off: it must get there before its interval ends.
 *
 * Debezium says so by its metrics, which are ahead of the records that still wait to be polled, and in the offset of
 * each record. Others are never asked.
 */
final class Snapshots {
    private static final String DEBEZIUM = "io.debezium.";
    private static final long LOOK_NANOS = 200_000_000L;
    /** How long a connector may take to follow changes, and then to find the first that is new. */
    private static final long CONNECT_NANOS = 60_000_000_000L;
    private static final long FIND_NANOS = 3_000_000_000L;

    private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    private final boolean isDebezium;
    private long looked;
    private boolean isRunning;
    private final boolean follows;
    private final long made = System.nanoTime();
    private boolean isIncomplete;
    private boolean hasGiven;
    private long connected;

    Snapshots(String connector, Map<String, String> config) {
        isDebezium = connector.startsWith(DEBEZIUM);
        follows = !config.getOrDefault("snapshot.mode", "").endsWith("_only");
    }

    /** Takes note of the last record that was given to the other side. */
    synchronized void gave(Map<String, ?> offset) {
        hasGiven = true;
        isIncomplete = isDebezium && isIncomplete(offset);
    }

    /** Takes note that the task has no record at present: with that a snapshot has ended once changes are followed. */
    synchronized void gaveNothing() {
        try {
            if (isIncomplete && isStreaming()) isIncomplete = false;
        } catch (JMException error) {
            isIncomplete = false;
        }
    }

    synchronized boolean isRunning() {
        if (!isDebezium) return false;
        if (isIncomplete) return true;
        long now = System.nanoTime();
        if (looked == 0 || now - looked > LOOK_NANOS) {
            looked = now;
            isRunning = look();
        }
        return isRunning;
    }

    /** Returns whether a connector that starts from an offset would take its snapshot again; see Debezium's loaders. */
    static boolean isIncomplete(Map<String, ?> offset) {
        if (offset == null || !isSet(offset.get("snapshot"))) return false;
        return !isSet(offset.get("snapshot_completed")) && !isSet(offset.get("last_snapshot_record"));
    }

    /** Returns whether a mark is set, be it as true or, as newer versions do, by a word such as INITIAL. */
    private static boolean isSet(Object mark) {
        return mark != null && !"false".equalsIgnoreCase(mark.toString());
    }

    /** Returns whether a snapshot runs, or nothing is known yet. */
    private boolean look() {
        try {
            Set<ObjectName> found = server.queryNames(new ObjectName("debezium.*:type=connector-metrics,context=snapshot,*"), null);
            if (found.isEmpty() && !isStreaming()) return true;
            for (ObjectName one : found) {
                if (is(one, "SnapshotRunning")) return true;
                boolean isOver = is(one, "SnapshotCompleted") || is(one, "SnapshotSkipped") || is(one, "SnapshotAborted");
                if (!isOver && !isStreaming()) return true;
            }
            return isResuming();
        } catch (JMException error) {
            return false;
        }
    }

    /** Returns whether it still connects, or looks for the first change that it has not given. */
    private boolean isResuming() throws JMException {
        long now = System.nanoTime();
        if (hasGiven || !follows || now - made > CONNECT_NANOS) return false;
        if (!isStreaming()) return true;
        if (connected == 0) connected = now;
        return now - connected < FIND_NANOS;
    }

    private boolean isStreaming() throws JMException {
        Set<ObjectName> found = server.queryNames(new ObjectName("debezium.*:type=connector-metrics,context=streaming,*"), null);
        for (ObjectName one : found) if (is(one, "Connected")) return true;
        return false;
    }

    private boolean is(ObjectName bean, String attribute) {
        try {
            return Boolean.TRUE.equals(server.getAttribute(bean, attribute));
        } catch (JMException error) {
            return false;
        }
    }
}
