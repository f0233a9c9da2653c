package connectcore;

import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.kafka.connect.runtime.isolation.Plugins;

/** Connect's own class loaders: each folder or jar of plugin.path has one, in front of the host's classes. */
final class Isolation {
    private final Plugins plugins;

    Isolation(Map<String, String> worker) {
        plugins = new Plugins(worker);
    }

    Plugins plugins() {
        return plugins;
    }

    /** Returns the loader of a plugin's class, by its full name. */
    ClassLoader loaderOf(String name) throws ClassNotFoundException {
        return Class.forName(name, false, plugins.delegatingLoader()).getClassLoader();
    }

    /** Returns the loader through which all plugins are found. */
    ClassLoader all() {
        return plugins.delegatingLoader();
    }

    /** Returns a new object of a class as a connector's loader sees it: its own copy goes first, as in Connect. */
    static <T> T make(String name, Class<T> kind, ClassLoader loader) throws Exception {
        Class<?> found = Class.forName(name, true, loader);
        return within(found.getClassLoader(), () -> kind.cast(found.getDeclaredConstructor().newInstance()));
    }

    /** Calls with a loader as the thread's context. */
    static <T> T within(ClassLoader loader, Callable<T> call) throws Exception {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        if (before == loader) return call.call();
        thread.setContextClassLoader(loader);
        try {
            return call.call();
        } finally {
            thread.setContextClassLoader(before);
        }
    }
}
