"""What is measured beside others, a module for each pair of systems."""
