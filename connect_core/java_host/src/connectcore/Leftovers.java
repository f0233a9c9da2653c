package connectcore;

/** What plugins leave behind in a process that is used again: threads, and objects that cannot be freed. */
final class Leftovers {
    /** Drivers and pools of threads may keep some for as long as the process lives. */
    private static final int MOST_THREADS = 16;

    private final int threadsAtStart = threads();

    /** Answers whether the process may be used again: few threads are left over, and half of its heap is free. */
    Frame toFrame() {
        boolean isClean = threads() <= threadsAtStart + MOST_THREADS && hasRoom();
        return new Frame(Json.object()).put("reusable", isClean);
    }

    private static int threads() {
        return Thread.getAllStackTraces().size();
    }

    private static boolean hasRoom() {
        if (isHalfFree()) return true;
        System.gc();
        return isHalfFree();
    }

    private static boolean isHalfFree() {
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory() <= runtime.maxMemory() / 2;
    }
}
