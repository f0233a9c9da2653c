"""Properties take as long as a busy machine needs."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("connect", deadline=None)
settings.load_profile("connect")
