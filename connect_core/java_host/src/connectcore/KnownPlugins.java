package connectcore;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import org.apache.kafka.connect.runtime.isolation.ClassLoaderFactory;
import org.apache.kafka.connect.runtime.isolation.DelegatingClassLoader;
import org.apache.kafka.connect.runtime.isolation.PluginDesc;
import org.apache.kafka.connect.runtime.isolation.PluginScanResult;
import org.apache.kafka.connect.runtime.isolation.PluginType;
import org.apache.kafka.connect.runtime.isolation.PluginUtils;

/**
 * Plugins whose classes and places are known from an earlier search: only these are loaded, and no jar is searched.
 *
 * A search costs seconds of processor time for a plugin with many jars; a host is started for each task.
 */
final class KnownPlugins {
    private final DelegatingClassLoader delegating;
    private final Map<String, ClassLoader> loaders = new HashMap<>();
    private final Map<PluginType, SortedSet<PluginDesc<?>>> found = new EnumMap<>(PluginType.class);

    private KnownPlugins(DelegatingClassLoader delegating) {
        this.delegating = delegating;
        for (PluginType type : PluginType.values()) found.put(type, new TreeSet<>());
    }

    /**
     * Makes the classes of some plugins, each with class, type, version and location, visible through a loader.
     *
     * One that was removed since the search is logged and left out: only who asks for its class is told that there is none.
     */
    static PluginScanResult install(JsonNode plugins, DelegatingClassLoader delegating) {
        KnownPlugins known = new KnownPlugins(delegating);
        for (JsonNode one : plugins) {
            try {
                known.add(one);
            } catch (IOException | ClassNotFoundException | LinkageError gone) {
                Log.warn(KnownPlugins.class, "Plugin " + one.get("class").asText() + " is no longer in plugin.path", gone);
            }
        }
        PluginScanResult result = known.result();
        delegating.installDiscoveredPlugins(result);
        return result;
    }

    private void add(JsonNode one) throws IOException, ClassNotFoundException {
        String location = one.get("location").asText();
        ClassLoader loader = loaders.get(location);
        if (loader == null) {
            Path place = Path.of(location);
            loader = PluginUtils.isolatedPluginSource(place, delegating, new ClassLoaderFactory()).loader();
            loaders.put(location, loader);
        }
        PluginType type = PluginType.valueOf(one.get("type").asText().toUpperCase(Locale.ROOT));
        Class<?> plugin = Class.forName(one.get("class").asText(), false, loader);
        found.get(type).add(new PluginDesc<>(plugin, one.get("version").asText(), type, loader));
    }

    private PluginScanResult result() {
        return new PluginScanResult(
                of(PluginType.SINK),
                of(PluginType.SOURCE),
                of(PluginType.CONVERTER),
                of(PluginType.HEADER_CONVERTER),
                of(PluginType.TRANSFORMATION),
                of(PluginType.PREDICATE),
                of(PluginType.CONFIGPROVIDER),
                of(PluginType.REST_EXTENSION),
                of(PluginType.CONNECTOR_CLIENT_CONFIG_OVERRIDE_POLICY));
    }

    /** The set holds plugins of one type only. */
    @SuppressWarnings({"rawtypes", "unchecked"})
    private <T> SortedSet<PluginDesc<T>> of(PluginType type) {
        return (SortedSet) found.get(type);
    }
}
