"""Single message transforms, one module each; see README.md."""
