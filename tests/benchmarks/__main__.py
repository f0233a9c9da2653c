"""``python -m tests.benchmarks [transforms] [converters] [registry_converters]``: what each part does a second."""

from __future__ import annotations

import sys

from tests.benchmarks import converters, registry_converters, transforms

PARTS = {"transforms": transforms.main, "converters": converters.main, "registry_converters": registry_converters.main}


def main(names: list[str]) -> int:
    """Run the named parts, all without names; 1 if one is slower than it must be."""
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        sys.exit(f"unknown benchmark {', '.join(unknown)}: choose of {', '.join(PARTS)}")
    results = [PARTS[name]() for name in names or PARTS]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
