"""The routes, a resource a module."""
