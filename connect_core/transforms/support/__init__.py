"""What several transforms share, and the parts of those too long for one module."""
