"""Planning of intervals: pure generators that yield from effects and import no framework."""
