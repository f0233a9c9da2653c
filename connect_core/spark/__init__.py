"""The driver's loop and its Spark jobs: one partition per task."""
