"""Contexts of a registry: ``:.name:subject`` is a subject in a context other than the default."""

from __future__ import annotations

__all__ = ["context_of", "qualified_like"]


def context_of(subject: str | None) -> str:
    """Return the context of a subject, as ``:.name:``; empty for the default one."""
    if subject is None or not subject.startswith(":."):
        return ""
    name, colon, _ = subject[2:].partition(":")
    return f":.{name}:" if colon else ""


def qualified_like(parent: str | None, subject: str) -> str:
    """Return a subject in the context of another one, unless it includes its own."""
    return subject if subject.startswith(":.") else f"{context_of(parent)}{subject}"
