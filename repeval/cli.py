"""The command line: one parser; exit codes are 0 done, 1 a check failed, 2 bad input, 3 a fault."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from repeval._version import __version__
from repeval.io.formats import FORMATS, READERS
from repeval.messages import RepevalError, refused
from repeval.messages.terminal import deleted, discard, fault, say, say_why


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code."""
    # Names from data may hold any character; a terminal that lacks one shows a mark instead.
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by who started us
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        if hasattr(getattr(sys, name), "reconfigure"):
            getattr(sys, name).reconfigure(errors="replace")
    args, code = _parsed(argv), 0
    try:
        from repeval import commands

        commands.check_outputs(args)
        code = getattr(commands, args.run)(args)
        sys.stdout.flush()
        return code
    except RepevalError as error:
        may_be_gone = error.code in ("file-not-found", "cannot-write")
        (say_why if may_be_gone else say)(f"{error} [{error.code}]")
    except BrokenPipeError:
        # The reader of a pipe left; that is no failure of ours, and changes no verdict.
        discard(sys.stdout)
        return code
    except OSError as error:
        where, what = error.filename, error.strerror or error
        if error.args and isinstance(error.args[0], list):  # shutil: which, where to, why
            _, where, what = error.args[0][0]
        say_why(f"{where}: {what}" if where else str(what))
        discard(sys.stdout)
    except KeyboardInterrupt:
        say("stopped")
        return 130
    except MemoryError:
        say("the memory is not enough. Fewer --resamples or --jobs, or less data, need less.")
    except ModuleNotFoundError as error:
        if (error.name or "repeval").partition(".")[0] == "repeval":
            return fault(error)
        say(str(refused("needs-package", f"{error.name} is not installed.")))
    except Exception as error:
        if not deleted():  # in which Python 3.13 cannot import
            return fault(error)
        say_why("")
    return 2


def _parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse arguments; DATA may also stand after options, which argparse alone does not find."""
    parser = _parser()
    args, rest = parser.parse_known_args(argv)
    if rest and (not hasattr(args, "data") or any(word.startswith("-") for word in rest)):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        args.data = [*args.data, *rest]
    return args


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are messages like all others."""

    def error(self, message: str) -> NoReturn:
        say(f"{message} (see {self.prog} --help)")
        raise SystemExit(2)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="repeval",
        description="How sure is a score from repeated runs, and what should the next dollar buy?",
        epilog="Exit codes: 0 done, 1 a check failed, 2 bad input or usage, 3 a fault of repeval.",
    )
    parser.add_argument("--version", action="version", version=f"repeval {__version__}")
    subparsers = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for add in (
        _add_analyze, _add_build, _add_check, _add_claims, _add_compare, _add_convert, _add_fetch,
        _add_gate, _add_items, _add_plan, _add_rank, _add_simulate,
    ):  # fmt: skip
        add(subparsers)
    return parser


def _data_options(parser: argparse.ArgumentParser) -> None:
    """Add DATA and the options that every command reading it takes."""
    group = parser.add_argument_group("data")
    group.add_argument(
        "data", nargs="*", metavar="DATA",
        help="tables or logs, files or directories; NAME=PATH names a model; absent: the paper's",
    )  # fmt: skip
    _columns_option(group)
    group.add_argument(
        "--missing", choices=["keep", "drop-problem", "fail", "error"],
        help="what to do about missing runs (default: keep, or the data set's own rule)",
    )  # fmt: skip
    group.add_argument(
        "--errors", choices=["missing", "fail"], default="missing",
        help="what an errored run counts as (default: missing)",
    )  # fmt: skip
    group.add_argument(
        "--retries", choices=["last", "best", "first"],
        help="which of several judged attempts at one run counts (default: refused)",
    )  # fmt: skip
    group.add_argument(
        "--failed-runs", choices=["keep", "leave-out"],
        help="runs in which everything failed while others did not (default: keep, and say so)",
    )  # fmt: skip
    _log_options(group)
    group.add_argument(
        "--wide", choices=["runs", "models", "conditions", "problems"],
        help="what the columns of a table are that has one for each",
    )  # fmt: skip
    group.add_argument(
        "--names", metavar="PATTERN",
        help="of the files, such as '{model}_run{run}.csv'; also {condition}, and * for any text",
    )  # fmt: skip
    group.add_argument("--pass-at", type=float, metavar="T", help="scores from T on are passes")
    group.add_argument(
        "--scale", type=float, nargs=2, metavar=("LOW", "HIGH"),
        help="lowest and highest rating possible, mapped to 0 and 1 (such as 1 5, or 0 100)",
    )  # fmt: skip
    group.add_argument(
        "--cluster", metavar="COL", help="label column: problems with one value count as a cluster"
    )
    group.add_argument("--by", metavar="COL", help="label column: one answer for each value")
    group.add_argument("--level", type=float, default=0.95, help="of intervals (default: 0.95)")
    group.add_argument(
        "--resamples", type=int, default=2000, metavar="B",
        help="where there is no exact law (default: 2000)",
    )  # fmt: skip
    group.add_argument("--seed", type=int, default=2606, help="of random numbers (default: 2606)")
    group.add_argument(
        "--jobs", type=int, default=os.cpu_count(), metavar="J",
        help="processes; results do not depend on it (default: one a core)",
    )  # fmt: skip


def _answer_options(
    parser: Any, condition: str, *, markdown: str = "Markdown instead of plain text",
    notes: str = "all notes",
) -> None:  # fmt: skip
    """Add how an answer is shown, and the condition to `condition`."""
    parser.add_argument("--json", metavar="FILE", help="write everything as JSON; - for the screen")
    parser.add_argument("--markdown", action="store_true", help=markdown)
    parser.add_argument("--all", action="store_true", help=notes)
    parser.add_argument("--condition", metavar="C", help=f"the condition to {condition}")


class _Many(argparse.Action):
    """`--many [C ...]`: B need not be given."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: str | None = None) -> None:
        namespace.many = [*(namespace.many or []), *values]
        for action in parser._get_positional_actions():
            action.required = action.dest == "baseline"


def _two_systems(parser: Any) -> None:
    """Add A and B, before DATA."""
    parser.add_argument("baseline", metavar="A", help="the baseline: a model of DATA, or a path")
    parser.add_argument("candidate", metavar="B", help="the candidate: a model of DATA, or a path")


def _columns_option(parser: Any) -> None:
    parser.add_argument(
        "--columns", action="append", default=[], metavar="ROLE=COLUMN",
        help="which column is what, such as problem=item_id; problem=task+problem joins two",
    )  # fmt: skip


def _log_options(parser: Any) -> None:
    parser.add_argument(
        "--scorer", metavar="NAME", help="which scorer, or SCORER/KEY, where a log has several"
    )
    parser.add_argument(
        "--format", metavar="F",
        help=f"{', '.join(FORMATS)} or a harness ({', '.join(sorted(READERS))}), where the content "
             "does not tell",
    )  # fmt: skip


def _add_analyze(commands: Any) -> None:
    parser = commands.add_parser("analyze", help="the one-screen answer, and everything as JSON")
    _data_options(parser)
    _answer_options(parser, "show", notes="all systems and all notes")
    parser.add_argument("--components", action="store_true", help="add components, ICC, ceilings")
    parser.add_argument("--baseline", metavar="A", help="with --candidate: did B get worse?")
    parser.add_argument("--candidate", metavar="B", help="with --baseline: the one in question")
    parser.set_defaults(run="analyze")


def _add_build(commands: Any) -> None:
    parser = commands.add_parser("build", help="run the notebooks and build the book")
    _data_options(parser)
    parser.add_argument(
        "--name", default=None, help="of the book (default: paper, or the first file's)"
    )
    parser.add_argument("--full", action="store_true", help="full sizes instead of quick ones")
    parser.add_argument("--pdf", action="store_true", help="print every page with Chromium")
    parser.set_defaults(run="build")


def _add_check(commands: Any) -> None:
    parser = commands.add_parser("check", help="read the data and say what is in them")
    _data_options(parser)
    parser.set_defaults(run="check")


def _add_claims(commands: Any) -> None:
    parser = commands.add_parser("claims", help="hold the paper's numbers against the data")
    _data_options(parser)
    parser.add_argument("--full", action="store_true", help="full study sizes, not quick ones")
    parser.add_argument("--json", metavar="FILE", help="write verdicts as JSON; - for the screen")
    parser.set_defaults(run="claims")


def _add_compare(commands: Any) -> None:
    parser = commands.add_parser("compare", help="is a candidate worse than a baseline?")
    _two_systems(parser)
    _data_options(parser)
    parser.add_argument(
        "--margin", type=float, metavar="PP", help="difference, in points, that does not matter"
    )
    parser.add_argument(
        "--many", nargs="*", action=_Many, metavar="C",
        help="hold several candidates against A, so that all verdicts hold together: all other "
             "models of DATA, or those named here or as B; DATA may stand here, too, and a folder "
             "alone after a path holds the candidates",
    )  # fmt: skip
    parser.add_argument("--flips", action="store_true", help="list the problems that changed")
    parser.add_argument(
        "--csv", metavar="FILE", help="write the problems, or the candidates; - for the screen"
    )
    _answer_options(parser, "compare under")
    parser.set_defaults(run="compare")


def _add_convert(commands: Any) -> None:
    parser = commands.add_parser("convert", help="write logs or raw responses as a tidy table")
    parser.add_argument("logs", nargs="+", metavar="LOG", help="files or directories, NAME=PATH")
    parser.add_argument(
        "-o", "--output", required=True, metavar="FILE",
        help=".csv or .parquet; with --to a folder, or the .json file of one evaluation",
    )  # fmt: skip
    parser.add_argument(
        "--to", choices=["eee"],
        help="write logs, or tables, as Every Eval Ever records instead, valid by their schema",
    )  # fmt: skip
    parser.add_argument(
        "--choices", action="store_true",
        help="read tables of multiple-choice responses instead: columns response, and answer or "
             "target (a letter from A to J)",
    )  # fmt: skip
    _columns_option(parser)
    _log_options(parser)
    parser.set_defaults(run="convert")


def _add_fetch(commands: Any) -> None:
    parser = commands.add_parser("fetch", help="download a public data set, or list them")
    parser.add_argument("name", nargs="?", metavar="NAME", help="absent: list what there is")
    parser.add_argument(
        "--accept-new", action="store_true",
        help="take a release that differs from the one recorded at the first fetch",
    )  # fmt: skip
    parser.set_defaults(run="fetch")


def _add_gate(commands: Any) -> None:
    parser = commands.add_parser("gate", help="pass or fail a candidate in CI, and test the gate")
    _two_systems(parser)
    _data_options(parser)
    parser.add_argument(
        "--margin", type=float, metavar="PP", required=True,
        help="the drop, in points, that matters: a candidate passes if it is ruled out",
    )  # fmt: skip
    parser.add_argument(
        "--question", choices=["new", "these"], default="new",
        help="on new problems like these, or on exactly these (default: new)",
    )  # fmt: skip
    parser.add_argument(
        "--looks", type=int, default=1, metavar="K",
        help="how often you will ask in all, while runs or problems are added (default: 1)",
    )  # fmt: skip
    parser.add_argument(
        "--unsure", choices=["fail", "pass"], default="fail",
        help="what 'cannot tell' counts as (default: fail, exit code 1)",
    )  # fmt: skip
    parser.add_argument(
        "--drop", type=float, metavar="PP",
        help="the drop that the gate tries itself on (default: 5, or twice the margin from 5 on)",
    )  # fmt: skip
    _answer_options(
        parser, "compare under",
        markdown="Markdown, for a job summary or a comment that can be found again",
    )  # fmt: skip
    parser.set_defaults(run="gate")


def _add_items(commands: Any) -> None:
    parser = commands.add_parser("items", help="which problems are flaky, passed by all or by none")
    _data_options(parser)
    parser.add_argument(
        "--pair", nargs=2, metavar=("A", "B"), help="which problems decide B against the baseline A"
    )
    parser.add_argument("--csv", metavar="FILE", help="write every problem; - for the screen")
    parser.add_argument("--json", metavar="FILE", help="write everything as JSON; - for the screen")
    parser.add_argument("--markdown", action="store_true", help="Markdown instead of plain text")
    parser.add_argument("--condition", metavar="C", help="the condition to look at")
    parser.set_defaults(run="items")


def _add_plan(commands: Any) -> None:
    parser = commands.add_parser("plan", help="what to buy next: more problems, more runs, or both")
    _data_options(parser)
    parser.add_argument(
        "--problem-cost", type=float, metavar="CP",
        help="of a new problem, without its runs (default: 0)",
    )  # fmt: skip
    parser.add_argument(
        "--run-cost", type=float, metavar="CG",
        help="of one run of one problem (default: 1, so that prices count in runs)",
    )  # fmt: skip
    parser.add_argument("--budget", type=float, metavar="B", help="what can be spent")
    parser.add_argument(
        "--width", type=float, metavar="PP",
        help="of the interval for new problems, in points: 6 for +-3; what does it take?",
    )  # fmt: skip
    parser.add_argument("--separate", nargs=2, metavar=("A", "B"), help="models to tell apart")
    parser.add_argument("--difference", type=float, metavar="PP", help="of both, to see: points")
    parser.add_argument("--power", type=float, default=0.8, metavar="P", help="how often to see it")
    parser.add_argument("--looks", type=int, default=1, metavar="K", help="how often you will look")
    parser.add_argument(
        "--subset", metavar="M",
        help="a model that ran a random part of the problems: its score on all, by older models",
    )  # fmt: skip
    parser.add_argument(
        "--model", metavar="M", help="the one to plan for (default: the middle one by run noise)"
    )
    _answer_options(parser, "plan under")
    parser.set_defaults(run="plan")


def _add_rank(commands: Any) -> None:
    parser = commands.add_parser("rank", help="a leaderboard with sets of ranks that hold together")
    _data_options(parser)
    parser.add_argument(
        "-o", "--output", action="append", default=[], metavar="FILE",
        help="write it to .json, .md, .csv or .tex instead of the screen; may be given again",
    )  # fmt: skip
    parser.add_argument("--condition", metavar="C", help="the condition to rank under")
    parser.set_defaults(run="rank")


def _add_simulate(commands: Any) -> None:
    parser = commands.add_parser("simulate", help="how often intervals cover a truth that is known")
    kinds = parser.add_subparsers(required=True, metavar="WHAT")
    coverage = kinds.add_parser("coverage", help="intervals of a pass rate (the paper's)")
    coverage.add_argument("--mean", type=float, nargs="+", metavar="P", help="mean pass rates")
    coverage.add_argument("--icc", type=float, nargs="+", metavar="RHO", help="correlations")
    strategies = kinds.add_parser("strategies", help="bootstraps of labelled runs (the post's)")
    strategies.add_argument("--table", metavar="FILE", help="CSV of counts, true by predicted")
    for kind, sub in (("coverage", coverage), ("strategies", strategies)):
        sub.description = "Without values of your own: those that the text has."
        sub.add_argument("--problems", type=int, nargs="+", metavar="N", help="how many")
        sub.add_argument("--runs", type=int, nargs="+", metavar="R", help="of each problem")
        sub.add_argument("--trials", type=int, metavar="T", help="data sets")
        sub.add_argument("--resamples", type=int, metavar="B", help="of each data set")
        sub.add_argument("--full", action="store_true", help="as many as the text has")
        sub.add_argument("--seed", type=int, default=2606, help="of random numbers")
        sub.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="J", help="processes")
        sub.add_argument("--csv", metavar="FILE", help="write every figure; - for the screen")
        sub.set_defaults(run="simulate", kind=kind)
