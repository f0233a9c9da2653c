"""What each kind of case runs."""
