"""``connect doctor``: checks of this machine and its stack, with a remedy for each failure."""

from __future__ import annotations

import os

import typer
from rich.console import Console
from rich.markup import escape

from connect_core.cli.airflow_pool import check_airflow_pool
from connect_core.cli.time_outs import check_time_outs
from connect_core.dev.checks import INSTALLATION_CHECKS, Check, Finding
from connect_core.dev.probes import SERVER_CHECKS
from connect_core.dev.spark_workers import check_spark_workers

__all__ = ["CHECKS", "doctor"]

CHECKS: tuple[Check, ...] = (
    *INSTALLATION_CHECKS,
    *SERVER_CHECKS,
    check_spark_workers,
    check_airflow_pool,
    check_time_outs,
)
"""In the order they are shown; a check is a function of the environment."""

_MARKS = {True: "[green]ok[/]     ", False: "[red]failed[/] ", None: "[dim]skipped[/]"}


def doctor() -> None:
    """Check this machine and its stack; print a remedy for each problem, exit 1 when something fails."""
    console = Console(highlight=False)
    findings = []
    for check in CHECKS:
        finding = check(os.environ)
        findings.append(finding)
        _print(console, finding)
    if any(finding.is_ok is False for finding in findings):
        raise typer.Exit(1)


def _print(console: Console, finding: Finding) -> None:
    console.print(f"{_MARKS[finding.is_ok]} {finding.subject:<11}{escape(finding.detail)}", soft_wrap=True)
    if finding.remedy:
        console.print(f"        {'':<11}→ {escape(finding.remedy)}", soft_wrap=True)
