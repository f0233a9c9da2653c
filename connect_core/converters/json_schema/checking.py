"""Validates a message against its JSON Schema; only with ``json.fail.invalid.schema``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import orjson

from connect_core.errors import DataError, MissingLibraryError
from connect_core.schema_registry.model import SchemaText

__all__ = ["checker"]

_UNFIT = "Messages cannot be checked against their JSON Schema"


def checker(schema: SchemaText, resolved: Sequence[tuple[str, SchemaText]]) -> Callable[[bytes], None]:
    """Return a function that raises DataError for a payload that does not match.

    Raise MissingLibraryError without ``jsonschema``, DataError for an invalid schema.
    """
    try:
        from jsonschema import validators
        from jsonschema.exceptions import SchemaError, UnknownType
        from referencing import Registry
        from referencing.exceptions import Unresolvable
        from referencing.jsonschema import DRAFT7
    except ModuleNotFoundError as error:
        raise MissingLibraryError(error.name, "schema-registry") from error
    # Nothing has validated the schema before: its types, patterns and numbers may be of any kind.
    problems = (SchemaError, UnknownType, Unresolvable, re.error, RecursionError, ValueError, TypeError, LookupError)
    try:
        documents = [(name, DRAFT7.create_resource(orjson.loads(text.text))) for name, text in resolved]
        root = orjson.loads(schema.text)
        kind = validators.validator_for(root, default=validators.Draft7Validator)
        kind.check_schema(root)
    except problems as problem:
        raise DataError(f"{_UNFIT}: {str(problem)[:300]}") from problem
    validator = kind(root, registry=Registry().with_resources(documents))

    def check(payload: bytes) -> None:
        try:
            error = next(validator.iter_errors(orjson.loads(payload)), None)
        except problems as problem:
            raise DataError(f"{_UNFIT}: {str(problem)[:300]}") from problem
        if error is not None:
            raise DataError(_described(error))

    return check


def _described(error: Any) -> str:
    return f"The message does not match its JSON Schema at {error.json_path}: {error.validator}"
