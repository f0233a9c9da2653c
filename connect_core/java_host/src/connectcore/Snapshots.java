package connectcore;

import java.lang.management.ManagementFactory;
import java.util.Set;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * Whether a Debezium connector takes a snapshot, which it cannot resume: it would begin again at the first row.
 *
 * Debezium tells it by the attributes of its metrics. Others are never asked.
 */
final class Snapshots {
    private static final String DEBEZIUM = "io.debezium.";
    private static final long LOOK_NANOS = 200_000_000L;

    private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    private final boolean isDebezium;
    private long looked;
    private boolean isRunning;

    Snapshots(String connector) {
        isDebezium = connector.startsWith(DEBEZIUM);
    }

    synchronized boolean isRunning() {
        if (!isDebezium) return false;
        long now = System.nanoTime();
        if (looked == 0 || now - looked > LOOK_NANOS) {
            looked = now;
            isRunning = look();
        }
        return isRunning;
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
