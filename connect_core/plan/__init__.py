"""Planning of intervals: pure generators that yield effects and import no framework."""
