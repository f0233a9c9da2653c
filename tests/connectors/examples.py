"""How many generated examples a property is tried on here."""

from hypothesis import settings

# No deadline: the first call of an Arrow kernel takes longer than any that fits the others.
MANY = settings(deadline=None, max_examples=50)
FEW = settings(deadline=None, max_examples=20)
