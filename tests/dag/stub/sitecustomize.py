"""Puts a stand-in for the engine in its place, in processes that have this folder on PYTHONPATH."""

import sys
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path

_FILES = {
    "connect_core.spark.remote": "stub_remote.py",
    "connect_core.run.probe": "stub_probe.py",
    "connect_core.spark.submit": "stub_submit.py",
}


class _StubFinder:
    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        file = _FILES.get(name)
        return spec_from_file_location(name, Path(__file__).with_name(file)) if file else None


sys.meta_path.insert(0, _StubFinder)
