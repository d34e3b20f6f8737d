"""The operator's commands: `infra/manage [--data DIR] SUBJECT COMMAND ...`, beside a running site or without one."""

import argparse
import os
import sys
from collections.abc import Sequence

from infra.commands import index, storage, subscriptions, tickets, tokens, upkeep, users, videos, workers
from infra.commands.site import Site
from shared.errors import MatineeError
from shared.telemetry import configure_logging


def main(arguments: Sequence[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    configure_logging("error", process="manage")
    try:
        options.run(Site(options.data, make=options.make), options)
        sys.stdout.flush()
    except MatineeError as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:  # whoever read our output has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return 130
    return 0


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="infra/manage", description="The operator's commands.")
    top.add_argument("--data", metavar="DIR", help="the site's data folder (default: data/ in the checkout)")
    top.set_defaults(make=False)
    subjects = top.add_subparsers(required=True, metavar="SUBJECT")
    for subject in (users, tokens, videos, tickets, workers, subscriptions, index, storage, upkeep):
        subject.add(subjects)
    return top


if __name__ == "__main__":
    sys.exit(main())
