"""Comparisons as a table, as JSON and as a chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from tests.benchmarks.comparison import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw", "readme_table", "show"]


def show(console: Console, found: Comparison) -> None:
    """Print a comparison."""
    headings = ("way", "records/s", "min", "max", "first run", "ours is", "CPU s per million", "peak memory")
    table = Table(title=found.work.title)
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "way" else "right")
    for name, way in found.to_json()["ways"].items():
        rates = [f"{way['records_per_second'][part]:,.0f}" for part in ("median", "min", "max", "first_run")]
        memory = sum(way["peak_memory_bytes_by_process"].values()) / 2**20
        ratio, cpu = f"{way['ours_is_times_as_fast']:.2f}x", f"{way['cpu_seconds_per_million']:.2f}"
        table.add_row(name, *rates, ratio, cpu, f"{memory:,.0f} MB")
    console.print(table)
    for text, reached in found.verdicts():
        console.print(f"{'reached' if reached else 'NOT reached'}: {text}", highlight=False)


def draw(comparisons: Sequence[Comparison], file: Path) -> None:
    """Write a chart (SVG): medians as bars, the fastest and the slowest round as whiskers, processor time as text."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    # Text stays text, and the same figures make the same file.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "connect-core", "font.size": 9}):
        rows = sum(len(one.work.ways) for one in comparisons)
        figure = Figure(figsize=(9, 0.42 * rows + 0.75 * len(comparisons)), layout="constrained")
        heights = [len(one.work.ways) for one in comparisons]
        axes = figure.subplots(len(comparisons), 1, squeeze=False, height_ratios=heights)
        for found, plot in zip(comparisons, axes[:, 0], strict=True):
            _bars(found, plot)
        figure.savefig(file, format="svg", metadata={"Date": None})


def _bars(found: Comparison, plot: Axes) -> None:
    names = [way.name for way in found.work.ways]
    medians = [found.median_rate(name) / 1000 for name in names]
    lows = [median - min(_rates(found, name)) for name, median in zip(names, medians, strict=True)]
    highs = [max(_rates(found, name)) - median for name, median in zip(names, medians, strict=True)]
    colours = ["#1f77b4" if place == 0 else "#b0b0b0" for place in range(len(names))]
    plot.barh(names, medians, xerr=[lows, highs], color=colours, capsize=3, height=0.6)
    for place, name in enumerate(names):
        text = f"  {medians[place]:,.0f}k/s, {found.median_cpu(name):.1f} CPU s per million"
        plot.text(medians[place] + highs[place], place, text, va="center", fontsize=8)
    plot.set_title(found.work.title, loc="left", fontsize=10)
    plot.set_xlim(0, max(medians) * 1.5)
    plot.invert_yaxis()
    plot.set_xlabel("thousand records a second", fontsize=8)


def _rates(found: Comparison, name: str) -> list[float]:
    return [run.rate / 1000 for run in found.runs[name]]


def readme_table(figures: Mapping[str, Any]) -> str:
    """Return the table of the project's README: ours beside the last way that is Apache Kafka Connect's."""
    lines = [
        "| Work | connect-core, records/s | Kafka Connect, records/s | Ratio | CPU seconds per million records |",
        "|---|---|---|---|---|",
    ]
    for work in figures["works"]:
        ways = work["ways"]
        ours = next(iter(ways.values()))
        peer = next(way for name, way in ways.items() if name.startswith("Kafka Connect"))
        rates = " | ".join(f"{way['records_per_second']['median']:,.0f}" for way in (ours, peer))
        cpu = f"{ours['cpu_seconds_per_million']:.1f} to {peer['cpu_seconds_per_million']:.1f}"
        lines.append(f"| {work['title']} | {rates} | {peer['ours_is_times_as_fast']:.1f}x | {cpu} |")
    return "\n".join(lines) + "\n"
