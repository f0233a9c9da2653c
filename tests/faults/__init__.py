"""Faults injected into real processes while verifiable data moves: ``python -m tests.faults``."""
