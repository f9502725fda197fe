"""A benchmark's result: what each contender took, the ratio of ours to it, and the targets; as text and as JSON."""

import json
import operator
import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, slots=True)
class Row:
    """One contender: its value, the values of all rounds, ours divided by its value, and a remark."""

    group: str
    name: str
    value: float
    rounds: tuple[float, ...] = ()
    ratio: float | None = None
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Target:
    """A promise and what this run found; `wanted` is a limit such as ">= 10"."""

    what: str
    wanted: str
    found: float

    @property
    def met(self) -> bool:
        """Compare what was found with the limit."""
        sign, limit = self.wanted.split()
        return {">=": operator.ge, "<=": operator.le, "<": operator.lt}[sign](self.found, float(limit))


@dataclass(frozen=True, slots=True)
class Result:
    """One benchmark's rows in one unit, whether "higher" or "lower" is better, and how it was measured."""

    name: str
    title: str
    unit: str
    better: str
    how: str
    rows: tuple[Row, ...]
    targets: tuple[Target, ...]
    packages: tuple[str, ...]


def rows(
    group: str, values: dict[str, Sequence[float]], pick, ours: str, remarks: dict[str, str] | None = None
) -> list[Row]:
    """Make a row of each contender's rounds: `pick` is max, min or median, and ratios are ours / theirs."""
    best = {name: pick(rounds) for name, rounds in values.items()}
    return [
        Row(
            group,
            name,
            _short(best[name]),
            tuple(map(_short, rounds)),
            None if name == ours else _short(best[ours] / best[name]) if best[name] else None,
            (remarks or {}).get(name, ""),
        )
        for name, rounds in values.items()
    ]


def show(result: Result) -> str:
    """Write a result as a table of plain text."""
    lines = [f"{result.title}: {result.better} is better", f"  {result.how}"]
    width = max(len(row.name) for row in result.rows) + 2
    for group in dict.fromkeys(row.group for row in result.rows):
        lines.append(f"  {group}")
        lines += [_line(row, result.unit, width) for row in result.rows if row.group == group]
    lines += [
        f"  target: {target.what} {target.wanted}: {target.found:.4g} ({'met' if target.met else 'NOT MET'})"
        for target in result.targets
    ]
    return "\n".join(lines)


def write(result: Result, folder: Path = RESULTS) -> Path:
    """Write a result as JSON beside the others; the file names versions and date, but no machine."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{result.name}.json"
    target.write_text(json.dumps(record(result), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return target


def record(result: Result) -> dict:
    """Give the JSON of a result."""
    held = asdict(result)
    held["targets"] = [{**asdict(target), "met": target.met} for target in result.targets]
    return {**{key: value for key, value in held.items() if key != "packages"}, **setting(result.packages)}


def setting(packages: Iterable[str]) -> dict:
    """Tell what a run was made with: versions and date, but no machine."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "cpus": os.cpu_count(),
        "versions": _versions(packages),
    }


def _versions(packages: Iterable[str]) -> dict[str, str]:
    found = {}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _line(row: Row, unit: str, width: int) -> str:
    ratio = "" if row.ratio is None else f"ours/theirs {row.ratio:.3g}"
    return f"    {row.name:<{width}}{row.value:>9.4g} {unit:<6}{ratio:<20}{row.remark}".rstrip()


def _short(value: float) -> float:
    return float(f"{value:.5g}")
