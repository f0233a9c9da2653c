"""Regular expressions of users, in Java's syntax: none can take the process that matches them."""
