"""The page that answers "is it all right?": static files, and the middleware that serves them."""

from connect_core.rest.ui.page import PageMiddleware

__all__ = ["PageMiddleware"]
