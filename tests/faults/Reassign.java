import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;

/**
 * Takes each partition of topics from its preferred leader, and gives that broker a replica again, as the last:
 * {@code Reassign BOOTSTRAP TOPIC...}.
 */
public final class Reassign {
    private Reassign() {}

    public static void main(String[] arguments) throws Exception {
        List<String> topics = List.of(arguments).subList(1, arguments.length);
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", arguments[0]))) {
            Map<TopicPartition, List<Integer>> replicas = new HashMap<>();
            for (var topic : admin.describeTopics(topics).allTopicNames().get().values()) {
                for (var part : topic.partitions()) {
                    List<Integer> turned = new ArrayList<>(part.replicas().stream().map(Node::id).toList());
                    Collections.rotate(turned, -1);
                    replicas.put(new TopicPartition(topic.name(), part.partition()), turned);
                }
            }
            assign(admin, replicas, 1);
            assign(admin, replicas, 0);
        }
    }

    private static void assign(Admin admin, Map<TopicPartition, List<Integer>> replicas, int without) throws Exception {
        Map<TopicPartition, Optional<NewPartitionReassignment>> wanted = new HashMap<>();
        replicas.forEach((partition, all) -> {
            var some = List.copyOf(all.subList(0, all.size() - without));
            wanted.put(partition, Optional.of(new NewPartitionReassignment(some)));
        });
        admin.alterPartitionReassignments(wanted).all().get();
        while (!admin.listPartitionReassignments().reassignments().get().isEmpty()) {
            Thread.sleep(100);
        }
    }
}
