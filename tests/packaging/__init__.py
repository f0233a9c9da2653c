"""The wheel: what it declares, what it brings, and that it is enough."""
