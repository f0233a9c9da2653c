package connectcore;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * The process that plugins run in: requests come on standard input, answers and events go to the descriptor that the argument names.
 *
 * It ends when standard input does: whoever started it is gone, or needs it no more. See README.md.
 */
public final class Host {
    /** How the system names an open descriptor: what a plugin prints cannot get among the answers. */
    private static final String DESCRIPTOR = "/dev/fd/";

    private static final long STOP_MILLIS = 2000;
    private static final int GONE = 0;

    /** A lane and the one thread that calls it. */
    private record Served(ExecutorService thread, Lane lane) {}

    private final Wire wire;
    private final Isolation isolation;
    private final Map<Integer, Served> lanes = new ConcurrentHashMap<>();
    private final Leftovers leftovers = new Leftovers();

    private Host(Wire wire, Isolation isolation) {
        this.wire = wire;
        this.isolation = isolation;
    }

    /** Starts, and serves until standard input ends. */
    public static void main(String[] arguments) throws Exception {
        Wire wire = new Wire(new FileInputStream(DESCRIPTOR + 0), new FileOutputStream(DESCRIPTOR + arguments[0]));
        System.setIn(InputStream.nullInputStream());
        System.setOut(Log.prints());
        System.setErr(Log.prints());
        JulHandler.install();
        Thread.setDefaultUncaughtExceptionHandler(
                (thread, error) -> Log.warn(Host.class, "Uncaught exception in thread " + thread.getName(), error));
        Runtime.getRuntime().addShutdownHook(new Thread(Host::tellWhoExits));
        try {
            serve(wire);
        } catch (IOException gone) {
            Runtime.getRuntime().halt(GONE);
        }
    }

    private static void serve(Wire wire) throws IOException, ClassNotFoundException {
        Frame hello = wire.read();
        setLevels(hello);
        Host host;
        try {
            JsonNode known = hello.header().get("plugins");
            boolean isSearch = known == null;
            host = new Host(wire, isSearch ? new Isolation(Json.strings(hello.header().get("worker"))) : new Isolation(known));
        } catch (Throwable error) {
            wire.write(new Frame(Json.object().set("error", Failures.toJson(error))).put("id", hello.header().get("id").asLong()));
            throw error;
        }
        Frame answer = new Frame(Json.object()).put("id", hello.header().get("id").asLong());
        wire.write(answer.put("pid", ProcessHandle.current().pid()).put("java", Runtime.version().toString()));
        try {
            while (true) host.dispatch(wire.read());
        } catch (IOException gone) {
            host.end();
        }
    }

    private void dispatch(Frame request) {
        int target = request.header().path("target").asInt(0);
        String op = request.text("op");
        switch (op) {
            case "host.levels" -> {
                setLevels(request);
                answer(request, null);
            }
            case "host.threads" -> answer(request, new Frame(Json.object()).put("threads", threads()));
            case "host.reusable" -> daemon(() -> answer(request, leftovers.toFrame()), op).start();
            case "host.reported" -> {
                Served served = lanes.get(target);
                if (served != null && served.lane() instanceof SinkLane sink) sink.reported(request);
                answer(request, null);
            }
            case "host.open" -> {
                ExecutorService thread = Executors.newSingleThreadExecutor(work -> daemon(work, "lane " + target));
                thread.execute(() -> call(request, () -> {
                    lanes.put(target, new Served(thread, open(request, target)));
                    return null;
                }));
            }
            case "host.close" -> daemon(() -> call(request, () -> close(target)), "close " + target).start();
            default -> {
                Served served = lanes.get(target);
                Runnable work = () -> call(request, () -> {
                    if (served == null) throw new IllegalStateException("There is no lane " + target);
                    return served.lane().handle(op, request);
                });
                if (served == null || request.header().path("aside").asBoolean()) daemon(work, op).start();
                else served.thread().execute(work);
            }
        }
    }

    private Lane open(Frame request, int target) throws Exception {
        return switch (request.text("kind")) {
            case "catalog" -> new Catalog(isolation);
            case "connector" -> new ConnectorLane(request, isolation, this, target);
            case "source" -> new SourceLane(request, isolation);
            case "sink" -> new SinkLane(request, isolation, this, target);
            case "chain" -> new ChainLane(request, isolation);
            case "converter" -> new ConverterLane(request, isolation);
            default -> throw new IllegalArgumentException(request.text("kind"));
        };
    }

    private Frame close(int target) throws Exception {
        Served served = lanes.remove(target);
        if (served == null) return null;
        try {
            served.lane().stop();
        } finally {
            served.thread().shutdownNow();
        }
        return null;
    }

    /** What a request asks for. */
    private interface Work {
        Frame run() throws Throwable;
    }

    private void call(Frame request, Work work) {
        try {
            answer(request, work.run());
        } catch (Throwable error) {
            answer(request, new Frame(Json.object()).set("error", Failures.toJson(error)));
            if (!Failures.isOfOneRecord(error)) throw (Error) error;
        }
    }

    private void answer(Frame request, Frame answer) {
        Frame found = answer == null ? new Frame(Json.object()) : answer;
        send(found.put("id", request.header().get("id").asLong()));
    }

    /** Sends an answer or an event; where nobody reads any more, the host ends. */
    void send(Frame frame) {
        try {
            wire.write(frame);
        } catch (IOException gone) {
            Runtime.getRuntime().halt(GONE);
        }
    }

    /** Stops all that runs, but not for long: whoever waits for the process counts the seconds. */
    private void end() {
        List<Thread> stopping = new ArrayList<>();
        for (int target : lanes.keySet()) {
            Thread thread = daemon(() -> {
                try {
                    close(target);
                } catch (Throwable error) {
                    Log.warn(Host.class, "A plugin could not be stopped", error);
                }
            }, "end " + target);
            thread.start();
            stopping.add(thread);
        }
        long end = System.currentTimeMillis() + STOP_MILLIS;
        try {
            for (Thread thread : stopping) thread.join(Math.max(1, end - System.currentTimeMillis()));
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
        Runtime.getRuntime().halt(GONE);
    }

    /** Says which plugin's code ends the process, as the host itself never exits by this way. */
    private static void tellWhoExits() {
        Thread.getAllStackTraces().forEach((thread, stack) -> {
            for (StackTraceElement frame : stack) {
                if (!frame.getClassName().equals("java.lang.Runtime") || !frame.getMethodName().equals("exit")) continue;
                System.err.println("System.exit was called in thread " + thread.getName());
                for (StackTraceElement one : stack) System.err.println("\tat " + one);
                return;
            }
        });
    }

    private static String threads() {
        StringBuilder text = new StringBuilder();
        Thread.getAllStackTraces().forEach((thread, stack) -> {
            text.append(thread.getName()).append(' ').append(thread.getState()).append('\n');
            for (StackTraceElement frame : stack) text.append("\tat ").append(frame).append('\n');
        });
        return text.toString();
    }

    private static void setLevels(Frame request) {
        Map<String, Integer> levels = new HashMap<>();
        JsonNode wanted = request.header().path("levels");
        wanted.fields().forEachRemaining(one -> levels.put(one.getKey(), one.getValue().asInt()));
        Log.setLevels(levels);
    }

    private static Thread daemon(Runnable work, String name) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        return thread;
    }
}
