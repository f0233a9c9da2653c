"""Java classes by name: stand-ins for those of the JDK, plugins for the others."""

from __future__ import annotations

from functools import cache

from connect_core.api.config.parsing import class_name
from connect_core.errors import NotFoundError
from connect_core.registry import registry

__all__ = ["java_name", "resolve"]

_JDK = {
    "java.lang": "Boolean Byte Character CharSequence Class Double Exception Float Integer Long Math Number Object "
    "Runnable RuntimeException Short String StringBuilder System Thread Throwable Void",
    "java.math": "BigDecimal BigInteger",
    "java.util": "ArrayList Collection Collections Date HashMap HashSet LinkedHashMap LinkedList List Locale Map "
    "Properties Set TreeMap UUID",
}


@cache
def resolve(name: str) -> type:
    """Return a class that stands for a Java class. Raise NotFoundError if there is none."""
    package, _, simple = name.rpartition(".")
    if simple in _JDK.get(package, "").split() or name in _plugin_names():
        return type(simple, (), {"__module__": package, "__qualname__": simple})
    raise NotFoundError(f"Class {name} could not be found.")


def java_name(found: type) -> str:
    """Return the Java name of a class returned by ``resolve``."""
    return class_name(found)


@cache
def _plugin_names() -> frozenset[str]:
    names = {plugin.name for plugin in registry().plugins()}
    return frozenset(names | {name.partition("$")[0] for name in names})
