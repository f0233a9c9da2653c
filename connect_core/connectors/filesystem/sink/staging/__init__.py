"""Files that a task has begun, until they are committed."""
