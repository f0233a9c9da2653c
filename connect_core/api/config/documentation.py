"""A definition as HTML and reStructuredText, in Kafka's own layout."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from connect_core.api.config.key import ConfigKey
from connect_core.api.config.parsing import convert_to_string
from connect_core.errors import ClassCastError

__all__ = ["sorted_keys", "to_enriched_rst", "to_html", "to_html_table", "to_rst"]

_READ_ONLY = "read-only"
_BINARY_UNITS = (("kibibyte", 1024), ("mebibyte", 1024), ("gibibyte", 1024), ("tebibyte", 1024))
_TIME_UNITS = (("second", 1000), ("minute", 60), ("hour", 60), ("day", 24))


def sorted_keys(keys: Iterable[ConfigKey], groups: Sequence[str]) -> list[ConfigKey]:
    """Return keys by group (none first), order, required first, importance and name."""
    place = {group: index for index, group in enumerate(groups)}

    def rank(key: ConfigKey) -> tuple[int, int, bool, int, str]:
        group = -1 if key.group is None else place[key.group]
        return group, key.order, key.has_default, key.importance.value, key.name

    return sorted(keys, key=rank)


def to_html(
    keys: Iterable[ConfigKey], header_depth: int, id_of: Callable[[str], str], update_modes: Mapping[str, str]
) -> str:
    """Return a list with a table of details for each key."""
    items = "".join(_html_item(key, header_depth, id_of(key.name), update_modes) for key in _shown(keys))
    return f'<ul class="config-list">\n{items}</ul>\n'


def to_html_table(keys: Iterable[ConfigKey], update_modes: Mapping[str, str]) -> str:
    """Return one table; the doubled ``</td>`` is Kafka's."""
    headers = ["Name", "Description", "Type", "Default", "Valid Values", "Importance"]
    headers += ["Dynamic Update Mode"] if update_modes else []
    lines = ['<table class="data-table"><tbody>', "<tr>", *(f"<th>{header}</th>" for header in headers), "</tr>"]
    for key in _shown(keys):
        cells = [key.name, "null" if key.doc is None else key.doc, *(text for _, text in _details(key))]
        row = "".join(f"<td>{cell}</td></td>" for cell in cells)
        mode = f"<td>{update_modes.get(key.name, _READ_ONLY)}</td>" if update_modes else ""
        lines += ["<tr>", f"{row}{mode}</tr>"]
    return "\n".join([*lines, "</tbody></table>"])


def to_rst(keys: Iterable[ConfigKey]) -> str:
    """Return a paragraph for each key."""
    return "".join(f"{_rst(key)}\n" for key in _shown(keys))


def to_enriched_rst(keys: Iterable[ConfigKey]) -> str:
    """Return a paragraph for each key under headings of their groups, with dependents."""
    text, last_group = "", ""
    for key in _shown(keys):
        if key.group is not None:
            if key.group.upper() != last_group.upper():
                text += f"{key.group}\n{'^' * len(key.group)}\n\n"
            last_group = key.group
        text += _rst(key)
        if key.dependents:
            text += f"  * Dependents: {', '.join(f'``{name}``' for name in key.dependents)}\n"
        text += "\n"
    return text


def _shown(keys: Iterable[ConfigKey]) -> Iterator[ConfigKey]:
    return (key for key in keys if not key.internal)


def _details(key: ConfigKey) -> list[tuple[str, str]]:
    return [
        ("Type", key.type.value),
        ("Default", _default_text(key)),
        ("Valid Values", "" if key.validator is None else str(key.validator)),
        ("Importance", key.importance.name.lower()),
    ]


def _default_text(key: ConfigKey) -> str:
    if not key.has_default:
        return ""
    text = convert_to_string(key.default, key.type)
    if text is None:
        return "null"
    return text + _unit_text(key) if text else '""'


def _unit_text(key: ConfigKey) -> str:
    units = next((units for suffix, units in _UNITS.items() if key.name.endswith(suffix)), None)
    if units is None:
        return ""
    if isinstance(key.default, bool) or not isinstance(key.default, int | float):
        raise ClassCastError(f"{key.name} ends as a number does, but its default is {key.default!r}")
    return _in_units(int(key.default), units, plural_below_one=units is _BINARY_UNITS)


_UNITS = {".bytes": _BINARY_UNITS, ".ms": _TIME_UNITS}


def _in_units(value: int, units: Sequence[tuple[str, int]], plural_below_one: bool) -> str:
    unit = None
    for name, size in units:
        if value == 0 or value % size != 0:
            break
        value, unit = value // size, name
    if unit is None:
        return ""
    plural = value != 1 if plural_below_one else value > 1
    return f" ({value} {unit}{'s' if plural else ''})"


def _html_item(key: ConfigKey, depth: int, anchor: str, update_modes: Mapping[str, str]) -> str:
    details = _details(key)
    if key.alternative is not None:
        details[1] = ("Default", key.alternative)
    if update_modes:
        details.append(("Update Mode", update_modes.get(key.name, _READ_ONLY)))
    rows = "".join(f"<tr><th>{name}:</th><td>{text}</td></tr>\n" for name, text in details)
    heading = f'<a id="{key.name}"></a><a id="{anchor}" href="#{anchor}">{key.name}</a>'
    doc = (key.doc or "").replace("\n", "<br>")
    return f"<li>\n<h{depth}>{heading}</h{depth}>\n<p>{doc}</p>\n<table><tbody>\n{rows}</tbody></table>\n</li>\n"


def _rst(key: ConfigKey) -> str:
    doc = "\n" if key.doc is None else "".join(f"  {line}\n\n" for line in key.doc.split("\n") if line)
    absent = {"Default": not key.has_default, "Valid Values": key.validator is None}
    details = "".join(f"  * {name}: {text}\n" for name, text in _details(key) if not absent.get(name))
    return f"``{key.name}``\n{doc}{details}"
