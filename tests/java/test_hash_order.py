"""The order of Java's HashSet."""

from __future__ import annotations

from connect_core.java.hash_order import in_hash_order


def test_order_is_javas() -> None:
    assert in_hash_order(["BASE64", "NUMERIC"]) == ["NUMERIC", "BASE64"]
    assert in_hash_order(["ONE", "TWO", "ONE"]) == ["ONE", "TWO"]
    known = "28 49 35 56 14 42 63 0 77 21 70 84 91 7"
    assert in_hash_order(f"key.{number}" for number in range(0, 98, 7)) == [f"key.{n}" for n in known.split()]
