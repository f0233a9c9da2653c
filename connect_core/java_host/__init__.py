"""A Java process beside Python that Connect's Java plugins run in, driven over pipes (README.md)."""
