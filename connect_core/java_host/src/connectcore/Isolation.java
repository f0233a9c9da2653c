package connectcore;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.apache.kafka.connect.runtime.isolation.ClassLoaderFactory;
import org.apache.kafka.connect.runtime.isolation.PluginDesc;
import org.apache.kafka.connect.runtime.isolation.PluginDiscoveryMode;
import org.apache.kafka.connect.runtime.isolation.PluginScanResult;
import org.apache.kafka.connect.runtime.isolation.PluginSource;
import org.apache.kafka.connect.runtime.isolation.PluginUtils;
import org.apache.kafka.connect.runtime.isolation.Plugins;

/** Connect's own class loaders: each folder or jar of plugin.path has one, in front of the host's classes. */
final class Isolation {
    private final Plugins plugins;
    private final Map<String, ClassLoader> connectors = new HashMap<>();

    /**
     * Finds plugins: all of plugin.path, or only those at plugin.locations.
     *
     * A location is one plugin with all its jars. Were it an entry of plugin.path, each of its jars would be a plugin.
     */
    Isolation(Map<String, String> worker) {
        String locations = worker.get("plugin.locations");
        if (locations == null) {
            plugins = new Plugins(worker);
            plugins.connectors().forEach(this::remember);
            return;
        }
        plugins = new Plugins(Map.of("plugin.discovery", "service_load"));
        if (locations.isEmpty()) return;
        Set<PluginSource> sources = new LinkedHashSet<>();
        for (String place : locations.split("\n")) sources.add(source(Path.of(place)));
        String mode = worker.get("plugin.discovery").toUpperCase(Locale.ROOT);
        PluginScanResult found = plugins.initLoaders(sources, PluginDiscoveryMode.valueOf(mode));
        found.sinkConnectors().forEach(this::remember);
        found.sourceConnectors().forEach(this::remember);
    }

    private void remember(PluginDesc<?> plugin) {
        connectors.putIfAbsent(plugin.className(), plugin.loader());
    }

    private PluginSource source(Path place) {
        try {
            return PluginUtils.isolatedPluginSource(place, plugins.delegatingLoader(), new ClassLoaderFactory());
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

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
            return Class.forName(name, false, plugins.delegatingLoader()).getClassLoader();
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
