"""Users' regular expressions, in Java's syntax: no pattern can block the process that uses it."""
