"""The part of the REST API that goes beyond Connect's, under ``/v1``."""
