"""Code shared by several transforms, and parts of transforms that are too long for one module."""
