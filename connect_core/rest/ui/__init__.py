"""The page that shows the state of the connectors: static files, and the middleware that serves them."""

from connect_core.rest.ui.page import PageMiddleware

__all__ = ["PageMiddleware"]
