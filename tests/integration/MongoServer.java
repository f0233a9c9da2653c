import de.bwaldvogel.mongo.backend.memory.MemoryBackend;

/** A server of MongoDB's protocol that keeps its documents in memory. It prints its port. */
public final class MongoServer {
    public static void main(String[] arguments) throws Exception {
        var server = new de.bwaldvogel.mongo.MongoServer(new MemoryBackend());
        System.out.println(server.bind().getPort());
        // It ends with whoever has started it.
        while (System.in.read() >= 0) continue;
        server.shutdownNow();
    }
}
