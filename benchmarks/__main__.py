"""Run all benchmarks, or those named: `python -m benchmarks splitting latency`."""

import sys
import warnings
from importlib import import_module

from . import offline

NAMES = ("splitting", "indexing", "latency", "headings", "killing", "busy", "importing", "redraw")


def main(names: list[str]) -> None:
    """Print each benchmark's ratios and write its results."""
    if unknown := set(names) - set(NAMES):
        sys.exit(f"no benchmark {sorted(unknown)[0]!r}; there are {', '.join(NAMES)}")
    offline.prepare()
    warnings.simplefilter("ignore", DeprecationWarning)
    from .report import show, write

    for name in names or NAMES:
        result = import_module(f"{__package__}.{name}").run()
        print(show(result), end="\n\n", flush=True)
        write(result)


if __name__ == "__main__":
    main(sys.argv[1:])
