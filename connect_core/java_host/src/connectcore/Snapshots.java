package connectcore;

import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.Set;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * Whether a Debezium connector takes a snapshot, which it cannot resume: it would begin again at the first row.
 *
 * Debezium says so by its metrics, which are ahead of the records that still wait to be polled, and in the offset of
 * each record. Others are never asked.
 */
final class Snapshots {
    private static final String DEBEZIUM = "io.debezium.";
    private static final long LOOK_NANOS = 200_000_000L;

    private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    private final boolean isDebezium;
    private long looked;
    private boolean isRunning;
    private boolean isIncomplete;

    Snapshots(String connector) {
        isDebezium = connector.startsWith(DEBEZIUM);
    }

    /** Takes note of the last record that was given to the other side. */
    synchronized void gave(Map<String, ?> offset) {
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
            if (found.isEmpty()) return !isStreaming();
            for (ObjectName one : found) {
                if (is(one, "SnapshotRunning")) return true;
                boolean isOver = is(one, "SnapshotCompleted") || is(one, "SnapshotSkipped") || is(one, "SnapshotAborted");
                if (!isOver && !isStreaming()) return true;
            }
            return false;
        } catch (JMException error) {
            return false;
        }
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
