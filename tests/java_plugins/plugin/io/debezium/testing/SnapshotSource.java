package io.debezium.testing;

import java.lang.management.ManagementFactory;
import java.util.Map;
import javax.management.JMException;
import javax.management.ObjectName;
import javax.management.StandardMBean;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.errors.ConnectException;
import testing.CountingSource;

/** Counts as a snapshot, with Debezium's metrics, which already say that changes are followed, and its offsets. */
public class SnapshotSource extends CountingSource {
    @Override
    public Class<? extends Task> taskClass() {
        return SnapshotTask.class;
    }

    /** What Debezium's bean for a stream of changes says, in part. */
    public interface Streaming {
        boolean isConnected();
    }

    /** Its task: the last record says that the snapshot is complete, unless {@code never.completes} is set. */
    public static class SnapshotTask extends CountingTask {
        private boolean completes;

        @Override
        public void start(Map<String, String> config) {
            completes = config.get("never.completes") == null;
            try {
                ObjectName name = new ObjectName("debezium.testing:type=connector-metrics,context=streaming,server=t");
                Streaming streaming = () -> true;
                ManagementFactory.getPlatformMBeanServer().registerMBean(new StandardMBean(streaming, Streaming.class), name);
            } catch (JMException error) {
                throw new ConnectException(error);
            }
            super.start(config);
        }

        @Override
        protected Map<String, Object> offset(long at, boolean isLast) {
            return Map.of("at", at, "snapshot", "INITIAL", "snapshot_completed", completes && isLast);
        }
    }
}
