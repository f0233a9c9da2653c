"""What the REST API offers beyond Connect's, under ``/v1``."""
