"""What the command ``connect`` begins with: it needs no library to say which ones are missing."""

from __future__ import annotations

import sys
from importlib import import_module

from connect_core.errors import MissingLibraryError

__all__ = ["main"]


def main() -> None:
    """Run the command line, or name the extra that brings it."""
    try:
        command = import_module("connect_core.cli.app").main
    except ModuleNotFoundError as error:
        sys.exit(f"connect: {MissingLibraryError(error.name, 'client')}")
    command()


if __name__ == "__main__":
    main()
