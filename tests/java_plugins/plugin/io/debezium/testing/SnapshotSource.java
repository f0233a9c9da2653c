package io.debezium.testing;

import java.lang.management.ManagementFactory;
import java.util.Map;
import javax.management.JMException;
import javax.management.ObjectName;
import javax.management.StandardMBean;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.errors.ConnectException;
import testing.CountingSource;

/** Counts as a snapshot, with Debezium's offsets and metrics, which say after a while that changes are followed. */
public class SnapshotSource extends CountingSource {
    @Override
    public Class<? extends Task> taskClass() {
        return SnapshotTask.class;
    }

    /** What Debezium's bean for a stream of changes says, in part. */
    public interface Streaming {
        boolean isConnected();
    }

    /** What Debezium's bean for a snapshot says, in part. */
    public interface Snapshot {
        boolean isSnapshotCompleted();
    }

    /** Its task: the last record says that the snapshot is complete, unless {@code never.completes} is set. */
    public static class SnapshotTask extends CountingTask {
        private boolean completes;

        @Override
        public void start(Map<String, String> config) {
            completes = config.get("never.completes") == null;
            try {
                long connected = System.nanoTime() + 1_000_000L * Long.parseLong(config.getOrDefault("connect.ms", "0"));
                bean("streaming", new StandardMBean(() -> System.nanoTime() >= connected, Streaming.class));
                bean("snapshot", new StandardMBean(() -> true, Snapshot.class));
            } catch (JMException error) {
                throw new ConnectException(error);
            }
            super.start(config);
        }

        private static void bean(String context, StandardMBean bean) throws JMException {
            ObjectName name = new ObjectName("debezium.testing:type=connector-metrics,server=t,context=" + context);
            ManagementFactory.getPlatformMBeanServer().registerMBean(bean, name);
        }

        @Override
        protected Map<String, Object> offset(long at, boolean isLast) {
            return Map.of("at", at, "snapshot", "INITIAL", "snapshot_completed", completes && isLast);
        }
    }
}
