package connectcore;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.sink.ErrantRecordReporter;
import org.apache.kafka.connect.sink.SinkRecord;

/** Hands records that a sink cannot write to the other side (KIP-610); done when the dead letter topic has them. */
final class Reports implements ErrantRecordReporter {
    private final Host host;
    private final int target;
    private final AtomicLong numbers = new AtomicLong();
    private final Map<Long, CompletableFuture<Void>> open = new ConcurrentHashMap<>();

    Reports(Host host, int target) {
        this.host = host;
        this.target = target;
    }

    @Override
    public Future<Void> report(SinkRecord record, Throwable error) {
        long number = numbers.incrementAndGet();
        CompletableFuture<Void> answer = new CompletableFuture<>();
        open.put(number, answer);
        Frame event = new Frame(Json.object()).put("event", "errant").put("target", target).put("number", number);
        event.put("topic", record.originalTopic()).put("partition", record.originalKafkaPartition());
        event.put("offset", record.originalKafkaOffset());
        event.set("error", Failures.toJson(error));
        host.send(event);
        return answer;
    }

    /** Takes the answer to a report: done, or why it could not be. */
    void done(Frame request) {
        CompletableFuture<Void> answer = open.remove(request.header().get("number").asLong());
        if (answer == null) return;
        String refusal = request.text("refusal");
        if (refusal == null) answer.complete(null);
        else answer.completeExceptionally(new ConnectException(refusal));
    }

    void close() {
        open.values().forEach(one -> one.completeExceptionally(new ConnectException("The task is stopping")));
    }
}
