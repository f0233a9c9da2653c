package connectcore;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.kafka.connect.runtime.isolation.DelegatingClassLoader;
import org.apache.kafka.connect.runtime.isolation.PluginDesc;
import org.apache.kafka.connect.runtime.isolation.PluginScanResult;
import org.apache.kafka.connect.runtime.isolation.Plugins;

/** Connect's own class loaders: each folder or jar of plugin.path has one, in front of the host's classes. */
final class Isolation {
    private final Plugins plugins;
    private final DelegatingClassLoader delegating;
    private final Map<String, ClassLoader> connectors = new HashMap<>();

    /** Finds all plugins of the worker's plugin.path, as Connect does. */
    Isolation(Map<String, String> worker) {
        plugins = new Plugins(worker);
        delegating = plugins.delegatingLoader();
        plugins.connectors().forEach(this::remember);
    }

    /**
     * Makes known plugins available.
     *
     * A location is one plugin with all its jars. Were it an entry of plugin.path, each of its jars would be a plugin.
     */
    Isolation(JsonNode known) {
        plugins = null;
        delegating = new DelegatingClassLoader();
        PluginScanResult found = KnownPlugins.install(known, delegating);
        found.sinkConnectors().forEach(this::remember);
        found.sourceConnectors().forEach(this::remember);
    }

    private void remember(PluginDesc<?> plugin) {
        connectors.putIfAbsent(plugin.className(), plugin.loader());
    }

    /** Returns what was found in plugin.path; not available if the plugins were known. */
    Plugins plugins() {
        return plugins;
    }

    /**
     * Returns the loader of a plugin's class, by its full name.
     *
     * Connect's loader hides some of its own packages, such as connect.tools; it, too, then looks among the connectors it found.
     */
    ClassLoader loaderOf(String name) throws ClassNotFoundException {
        try {
            return Class.forName(name, false, delegating).getClassLoader();
        } catch (ClassNotFoundException hidden) {
            ClassLoader found = connectors.get(name);
            if (found == null) throw hidden;
            return found;
        }
    }

    /** Returns a new object of a plugin's class. */
    <T> T make(String name, Class<T> kind) throws Exception {
        return make(name, kind, loaderOf(name));
    }

    /** Returns the loader through which all plugins are found. */
    ClassLoader all() {
        return delegating;
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
