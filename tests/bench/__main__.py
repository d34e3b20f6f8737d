"""`infra/bench [NAME...] [--quick] [--json]`: runs the benches of this folder and prints what they measured."""

import argparse
import importlib
import pkgutil
import sys
import tempfile
from pathlib import Path

import tests.bench
from tests.bench.figure import as_json, as_table

_NOT_BENCHES = {"__main__", "day", "figure", "peers", "site"}


def main() -> int:
    benches = sorted({module.name for module in pkgutil.iter_modules(tests.bench.__path__)} - _NOT_BENCHES)
    parser = argparse.ArgumentParser(prog="infra/bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which to run: {', '.join(benches)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="smaller inputs; each ends within a minute or two")
    parser.add_argument("--json", action="store_true", help="one JSON object a line instead of a table")
    options = parser.parse_args()
    if unknown := set(options.names) - set(benches):
        parser.error(f"there is no bench {', '.join(sorted(unknown))}; there are {', '.join(benches)}")
    missed = False
    for name in options.names or benches:
        with tempfile.TemporaryDirectory(prefix="matinee-bench-") as folder:
            measured = importlib.import_module(f"tests.bench.{name}").measure(Path(folder), quick=options.quick)
        print("\n".join(map(as_json, measured)) if options.json else as_table(measured) + "\n", flush=True)
        missed = missed or any(one.met is False for one in measured)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
