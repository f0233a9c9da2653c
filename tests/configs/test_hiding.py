"""Messages of a validation: what references hold is not in them, in whatever form settings read it."""

from __future__ import annotations

import pytest

from connect_core.configs.hiding import Hiding

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
