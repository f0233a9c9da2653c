"""Files that a task has started, until they are committed."""
