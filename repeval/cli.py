"""The command line: one parser, exit codes 0 done, 1 a check failed, 2 bad input or usage."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repeval._version import __version__
from repeval.notices import RepevalError, refused

if TYPE_CHECKING:
    from repeval.analysis import Analysis
    from repeval.outcomes import Outcomes


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code."""
    # Names from data may hold any character; a terminal that lacks one shows a mark instead.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    args = _parser().parse_args(argv)
    try:
        code = args.run(args)
        sys.stdout.flush()
        return code
    except RepevalError as error:
        print(f"repeval: {error}", file=sys.stderr)
    except BrokenPipeError:
        # The reader of a pipe left; that is no failure of ours.
        _discard_output()
        return 0
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"repeval: {where}{error.strerror or error}", file=sys.stderr)
        _discard_output()
    except KeyboardInterrupt:
        print("repeval: stopped", file=sys.stderr)
        return 130
    return 2


def _discard_output() -> None:
    """Leave nothing in the buffer that closing the output would fail on again."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="repeval",
        description="How sure is a score from repeated runs, and what should the next dollar buy?",
    )
    parser.add_argument("--version", action="version", version=f"repeval {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for add in (_add_analyze, _add_build, _add_check, _add_claims):
        add(commands)
    return parser


def _data_options(parser: argparse.ArgumentParser) -> None:
    """Add DATA and the options that every command reading it takes."""
    group = parser.add_argument_group("data")
    group.add_argument(
        "data", nargs="*", metavar="DATA",
        help="files or directories; NAME=PATH names a model; absent: the paper's data",
    )  # fmt: skip
    group.add_argument(
        "--columns", action="append", default=[], metavar="ROLE=COLUMN",
        help="which column is what, such as problem=item_id; problem=task+problem joins two",
    )  # fmt: skip
    group.add_argument(
        "--missing", choices=["keep", "drop-problem", "fail", "error"],
        help="what to do about missing runs (default: keep, or the data set's own rule)",
    )  # fmt: skip
    group.add_argument(
        "--errors", choices=["missing", "fail"], default="missing",
        help="what an errored run counts as (default: missing)",
    )  # fmt: skip
    group.add_argument("--scorer", metavar="NAME", help="which scorer, where a log has several")
    group.add_argument("--pass-at", type=float, metavar="T", help="scores from T on are passes")
    group.add_argument("--format", metavar="F", help="csv, tsv, jsonl or parquet")
    group.add_argument("--cluster", metavar="COL", help="label column: resample whole clusters")
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


def _add_analyze(commands: Any) -> None:
    parser = commands.add_parser("analyze", help="the one-screen answer, and everything as JSON")
    _data_options(parser)
    parser.add_argument("--json", metavar="FILE", help="write everything as JSON; - for the screen")
    parser.add_argument("--markdown", action="store_true", help="Markdown instead of plain text")
    parser.add_argument("--all", action="store_true", help="all systems and all notes")
    parser.add_argument("--components", action="store_true", help="add components, ICC, ceilings")
    parser.add_argument("--condition", metavar="C", help="the condition to show")
    parser.add_argument("--baseline", metavar="A", help="with --candidate: did B get worse?")
    parser.add_argument("--candidate", metavar="B", help="with --baseline: the one in question")
    parser.set_defaults(run=_analyze)


def _add_build(commands: Any) -> None:
    parser = commands.add_parser("build", help="run the notebooks and build the book")
    _data_options(parser)
    parser.add_argument(
        "--name", default=None, help="of the book (default: paper, or the first file's)"
    )
    parser.add_argument("--full", action="store_true", help="full sizes instead of quick ones")
    parser.add_argument("--pdf", action="store_true", help="print every page with Chromium")
    parser.set_defaults(run=_build)


def _add_check(commands: Any) -> None:
    parser = commands.add_parser("check", help="read the data and say what is in them")
    _data_options(parser)
    parser.set_defaults(run=_check)


def _add_claims(commands: Any) -> None:
    parser = commands.add_parser("claims", help="hold the paper's numbers against the data")
    _data_options(parser)
    parser.add_argument("--json", metavar="FILE", help="write verdicts as JSON; - for the screen")
    parser.set_defaults(run=_claims)


def _load(args: argparse.Namespace) -> Outcomes:
    if not 0.5 <= args.level < 1:
        raise RepevalError("bad-option", f"--level must lie in [0.5, 1), not {args.level}")
    if not 100 <= args.resamples <= 1_000_000:
        what = f"from 100 to 1,000,000, not {args.resamples}"
        raise RepevalError("bad-option", f"--resamples must be {what}")
    if args.seed < 0:
        raise RepevalError("bad-option", f"--seed must not be negative, not {args.seed}")
    for option in ("json", "by", "cluster", "condition", "baseline", "candidate", "name"):
        if getattr(args, option, None) == "":
            raise RepevalError("bad-option", f"--{option} is empty")
    if args.jobs < 1:
        raise RepevalError("bad-option", f"--jobs must be at least 1, not {args.jobs}")
    from repeval.tables import load

    return load(
        args.data or None, columns=args.columns or None, missing=args.missing, errors=args.errors,
        scorer=args.scorer, pass_at=args.pass_at, format=args.format,
    )  # fmt: skip


def _answer(outcomes: Outcomes, args: argparse.Namespace) -> Analysis:
    from repeval.analysis import analyze

    return analyze(
        outcomes, level=args.level, n_resamples=args.resamples, seed=args.seed, cluster=args.cluster
    )


def _analyze(args: argparse.Namespace) -> int:
    from repeval.screen import one_screen

    if (args.baseline is None) != (args.candidate is None):
        raise RepevalError("bad-option", "--baseline and --candidate go together: give both")
    pair = (args.baseline, args.candidate) if args.baseline else None
    if pair and args.baseline == args.candidate:
        raise RepevalError("bad-option", "--baseline and --candidate name the same system")
    outcomes = _load(args)
    analysis = _answer(outcomes, args)
    parts = outcomes.split_by(args.by) if args.by else {}
    groups = {v: _answer(part, args) for v, part in parts.items() if _answerable(part)}
    if args.by and not groups:
        raise RepevalError("one-problem", f"--by {args.by}: no value has two problems or more")
    text = one_screen(
        analysis, outcomes, condition=args.condition, pair=pair, everything=args.all,
        components=args.components, markdown=args.markdown, groups=groups, by=args.by,
    )  # fmt: skip
    if args.json:
        document = analysis.to_dict()
        if args.by:
            found = {value: a.to_dict() for value, a in groups.items()}
            document["by"] = {"column": args.by, "groups": found}
        _write_json(args.json, document, args.data)
    if args.json != "-":
        print(text, end="")
    return 0


def _answerable(part: Outcomes) -> bool:
    return all(len(part.system_problems(*system)) > 1 for system in part.systems)


def _build(args: argparse.Namespace) -> int:
    if args.by:
        raise RepevalError("bad-option", "--by is not for build; use repeval analyze")
    from repeval.book import BuildFailed, build

    outcomes = _load(args)
    name = args.name or ("paper" if not args.data else Path(args.data[0]).name.split(".")[0])
    options = {"level": args.level, "n_resamples": args.resamples, "cluster": args.cluster}
    try:
        page = build(
            outcomes, name=name, full=args.full, pdf=args.pdf, seed=args.seed, jobs=args.jobs,
            options=options,
        )  # fmt: skip
    except BuildFailed as error:
        print(f"repeval: {error}", file=sys.stderr)
        return 1
    print(f"The book is at {page}")
    return 0


def _say_stand_in(outcomes: Outcomes) -> None:
    if outcomes.source.basis == "stand-in":
        from repeval.report import STAND_IN

        print(textwrap.fill(STAND_IN, 80))


def _check(args: argparse.Namespace) -> int:
    outcomes = _load(args)
    _say_stand_in(outcomes)
    print(f"{outcomes.source.name}: {outcomes.source.n_rows} rows, sha256 {outcomes.source.sha256}")
    for model, condition in outcomes.systems:
        sample = outcomes.system(model, condition)
        runs = sorted(set(sample.runs.tolist()))
        span = str(runs[0]) if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
        print(f"  {model}, {condition}: {len(sample)} problems x {span} runs")
    if args.by:
        outcomes.split_by(args.by)
    for notice in _answer(outcomes, args).notices:
        print(f"{notice.code}: {notice.text}")
    print("The data can be analysed.")
    return 0


def _claims(args: argparse.Namespace) -> int:
    from repeval import claims

    outcomes = _load(args)
    analysis = _answer(outcomes, args)
    found = claims.verdicts(analysis, outcomes)
    counts = {verdict: n for verdict, n in claims.counts(found).items() if n}
    if args.json:
        rows = [
            {"id": v.claim.id, "paper": v.claim.value, "computed": v.computed, "se": v.se,
             "verdict": v.verdict, "reason": v.reason}
            for v in found
        ]  # fmt: skip
        document = {"schema": "repeval/claims/1", "data": analysis.to_dict()["data"]}
        _write_json(args.json, {**document, "counts": counts, "claims": rows}, args.data)
    if args.json != "-":
        _say_stand_in(outcomes)
        for v in found:
            print(f"{v.claim.id:<28} {v.verdict:<14} {v.reason or ''}".rstrip())
        print(", ".join(f"{n} {verdict}" for verdict, n in counts.items()))
        print("known: differs, for a reason in the errata. calibrated, pinned: the stand-in was")
        print("made to agree, which says nothing about the paper.")
    return int(any(v.verdict == "differs" for v in found))


def _write_json(path: str, document: dict[str, Any], inputs: Sequence[str] = ()) -> None:
    plain = {"indent": 1, "ensure_ascii": False, "allow_nan": False}
    # Claims may hold numpy numbers and arrays.
    text = json.dumps(document, default=lambda value: value.tolist(), **plain) + "\n"
    if path == "-":
        sys.stdout.write(text)
        return
    target = Path(path).resolve()
    if target in {Path(given.partition("=")[2] or given).resolve() for given in inputs}:
        raise RepevalError("bad-option", f"--json {path} is one of the inputs; name another file")
    # Written beside and renamed: a full disk leaves no half file. A device or a pipe is no file.
    part = target.with_name(f".{target.name}.part")
    replace = target.is_file() or not target.exists()
    try:
        (part if replace else target).write_text(text, encoding="utf-8")
        if replace:
            part.replace(target)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise refused("cannot-write", f"cannot write {path}: {error.strerror}.") from None
