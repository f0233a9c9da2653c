"""Messages of a validation: what references hold is not in them, in whatever form settings read it."""

from __future__ import annotations

import pytest

from connect_core.configs.hiding import Hiding, secret_forms

REFERENCE = "${dir:/run:pw}"


@pytest.mark.parametrize("held", ["s3cr3t-value", "s3cr3t-value\n", "  s3cr3t-value"])
@pytest.mark.parametrize("told", ["s3cr3t-value", "S3CR3T-VALUE"])
def test_secret_is_hidden_trimmed_and_in_any_case(held: str, told: str) -> None:
    """A mounted secret often ends with a line break, and some settings are read in upper case."""
    hiding = Hiding.of({"a": REFERENCE}, {"a": held}, {held: REFERENCE})
    assert hiding.text(f"Invalid value {told} for a", "a") == f"Invalid value {REFERENCE} for a"
    assert hiding.text(f"Invalid value {told} for a", "b") == f"Invalid value {REFERENCE} for a"


def test_short_secret_is_hidden_in_messages_of_its_own_setting() -> None:
    hiding = Hiding.of({"a": REFERENCE, "b": "1"}, {"a": "7", "b": "1"}, {"7": REFERENCE})
    assert hiding.text("7 is too much", "a") == f"{REFERENCE} is too much"
    assert hiding.text("7 is too much", "b") == "7 is too much"


def test_reference_with_backslashes_is_shown_as_it_is() -> None:
    reference = r"${dir:C:\1:\g<0>}"
    hiding = Hiding.of({"a": reference}, {"a": "s3cr3t"}, {"s3cr3t": reference})
    assert hiding.text("no s3cr3t", "a") == f"no {reference}"


def test_secret_is_hidden_in_json_in_a_url_and_line_by_line() -> None:
    key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\n-----END KEY-----\n"
    forms = {form: "[hidden]" for secret in ('p"w\\d/1', key) for form in secret_forms(secret)}
    hiding = Hiding({"a": "[hidden]"}, forms, {"a": key})
    assert hiding.text('{"password": "p\\"w\\\\d/1"}') == '{"password": "[hidden]"}'
    assert hiding.text("postgresql://u:p%22w%5Cd%2F1@db") == "postgresql://u:[hidden]@db"
    assert hiding.text("line 2: MIIEvQIBADANBgkq") == "line 2: [hidden]"


def test_short_lines_of_a_secret_are_shown() -> None:
    assert "}" not in secret_forms('{\n"private_key": "a"\n}')
