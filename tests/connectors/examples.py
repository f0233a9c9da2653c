"""How many generated examples a property is tried on here."""

from hypothesis import settings

from tests.full_run import examples

# No deadline: the first call of an Arrow kernel takes longer than any that fits the others.
MANY = settings(deadline=None, max_examples=examples(30, 200))
FEW = settings(deadline=None, max_examples=examples(15, 100))
