"""Predicates that guard transforms, one module each."""
