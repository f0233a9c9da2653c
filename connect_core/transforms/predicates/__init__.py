"""Predicates for transforms, one module each."""
