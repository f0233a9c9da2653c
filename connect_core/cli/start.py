"""Entry point of the command ``connect``: imports no library itself, so it can report missing ones."""

from __future__ import annotations

import sys
from importlib import import_module

from connect_core.errors import MissingLibraryError

__all__ = ["main"]


def main() -> None:
    """Run the command line, or name the extra that installs what is missing."""
    try:
        command = import_module("connect_core.cli.app").main
    except ModuleNotFoundError as error:
        sys.exit(f"connect: {MissingLibraryError(error.name, 'client')}")
    command()


if __name__ == "__main__":
    main()
