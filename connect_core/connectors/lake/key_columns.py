"""Which columns are the key of a table's rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from connect_core.connectors.lake.keys import is_key_type
from connect_core.errors import ConfigError

__all__ = ["KeySetting", "key_columns_of"]


@dataclass(frozen=True, slots=True)
class KeySetting:
    """The columns that the configuration names, and the setting that names them."""

    setting: str
    columns: tuple[str, ...]
    ignores_case: bool = False


def key_columns_of(
    table: str, wanted: KeySetting, existing: pa.Schema | None, own: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the key's columns by the names of the table, ``None``: it is yet to be created.

    ``own``: the key that the table itself declares, used if none is configured. Raises ConfigError.
    """
    names = tuple(dict.fromkeys(wanted.columns or own))
    if not names:
        raise ConfigError(
            wanted.setting, "", f"rows of table {table} are to be found by their key: name the columns of the key"
        )
    if existing is None:
        return names
    known = {name.lower() if wanted.ignores_case else name: name for name in existing.names}
    found = []
    for name in names:
        column = known.get(name.lower() if wanted.ignores_case else name)
        if column is None:
            there = ", ".join(existing.names)
            text = f"table {table} has no column of this name; name some of {there}, or add the column"
            raise ConfigError(wanted.setting, name, text)
        found.append(column)
        kind = existing.field(column).type
        if not is_key_type(kind):
            text = (
                f"the column has the type {kind} in table {table}, whose values are never surely equal; name columns "
            )
            raise ConfigError(wanted.setting, name, text + "of whole numbers, texts, times, decimals or bytes")
    return tuple(found)
