package connectcore;

import java.util.IdentityHashMap;
import java.util.Map;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.TransactionContext;

/** Where a task wants transactions to end. Connect: WorkerTransactionContext. */
final class Boundaries implements TransactionContext {
    private static final String COMMIT = "commit";
    private static final String ABORT = "abort";

    private final Map<SourceRecord, String> byRecord = new IdentityHashMap<>();
    private String batch;

    @Override
    public synchronized void commitTransaction() {
        batch = asked(batch, COMMIT);
    }

    @Override
    public synchronized void commitTransaction(SourceRecord record) {
        byRecord.put(record, asked(byRecord.get(record), COMMIT));
    }

    @Override
    public synchronized void abortTransaction() {
        batch = asked(batch, ABORT);
    }

    @Override
    public synchronized void abortTransaction(SourceRecord record) {
        byRecord.put(record, asked(byRecord.get(record), ABORT));
    }

    private static String asked(String before, String wanted) {
        if (before != null && !before.equals(wanted)) {
            throw new IllegalStateException("Connector requested both commit and abort of the same transaction");
        }
        return wanted;
    }

    /** Returns what was asked for after a record; null: nothing. */
    synchronized String take(SourceRecord record) {
        return byRecord.remove(record);
    }

    /** Returns what was asked for after the last poll as a whole. */
    synchronized String takeBatch() {
        String found = batch;
        batch = null;
        return found;
    }
}
