"""What each command does with its parsed arguments; every one returns the exit code."""

from __future__ import annotations

import argparse
import contextlib
import functools
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repeval.io.outputs import outputs, write, write_all
from repeval.messages import RepevalError, printable

if TYPE_CHECKING:
    from repeval.io.outcomes import Outcomes
    from repeval.report.analysis import Analysis


def fetch(args: argparse.Namespace) -> int:
    """Download a data set, or list them."""
    from repeval.io.registry import entry_of, fetch_file, listing

    if args.name is None:
        print(listing())
        return 0
    entry = entry_of(args.name)
    if entry["basis"] == "released":
        from repeval.companion.paper_data.released import fetch_release

        print(*fetch_release(entry, accept=args.accept_new), sep="\n")
    else:
        print(*fetch_file(entry), sep="\n")
    return 0


def _load(args: argparse.Namespace) -> Outcomes:
    if not 0.5 <= args.level < 1:
        raise RepevalError("bad-option", f"--level must lie in [0.5, 1), not {args.level}")
    if not 100 <= args.resamples <= 1_000_000:
        what = f"from 100 to 1,000,000, not {args.resamples}"
        raise RepevalError("bad-option", f"--resamples must be {what}")
    if args.seed < 0:
        raise RepevalError("bad-option", f"--seed must not be negative, not {args.seed}")
    for option in ("json", "by", "cluster", "condition", "baseline", "candidate", "name", "names"):
        if getattr(args, option, None) == "":
            raise RepevalError("bad-option", f"--{option} is empty")
    if args.jobs < 1:
        raise RepevalError("bad-option", f"--jobs must be at least 1, not {args.jobs}")
    from repeval.io.load import load

    return load(
        args.data or None, columns=args.columns or None, missing=args.missing, errors=args.errors,
        scorer=args.scorer, pass_at=args.pass_at, format=args.format, scale=args.scale,
        retries=args.retries, failed_runs=args.failed_runs,
        wide=args.wide, names=args.names,
    )  # fmt: skip


def _answer(outcomes: Outcomes, args: argparse.Namespace) -> Analysis:
    from repeval.report.analysis import analyze

    return analyze(
        outcomes, level=args.level, n_resamples=args.resamples, seed=args.seed, cluster=args.cluster
    )


def analyze(args: argparse.Namespace) -> int:
    """Print the one-screen answer; write everything as JSON."""
    from repeval.report.groups import macro_rows
    from repeval.report.screen import one_screen

    if (args.baseline is None) != (args.candidate is None):
        raise RepevalError("bad-option", "--baseline and --candidate go together: give both")
    pair = (args.baseline, args.candidate) if args.baseline else None
    if pair and args.baseline == args.candidate:
        raise RepevalError("bad-option", "--baseline and --candidate name the same system")
    outcomes = _load(args)
    analysis = _answer(outcomes, args)
    parts = outcomes.split_by(args.by) if args.by else {}
    groups = {v: _answer(p, args) for v, p in parts.items() if _answerable(p, args.cluster)}
    if args.by and not groups:
        raise RepevalError("one-problem", f"--by {args.by}: no value has two problems or more")
    macros = macro_rows({v: parts[v] for v in groups}, analysis.settings)
    text = one_screen(
        analysis, outcomes, condition=args.condition, pair=pair, everything=args.all,
        components=args.components, markdown=args.markdown, groups=groups, macros=macros,
        by=args.by,
    )  # fmt: skip
    if args.json:
        document = analysis.document()
        if args.by:
            found = {value: a.document() for value, a in groups.items()}
            document["by"] = {"column": args.by, "groups": found, "macro": macros}
        _write_json(args.json, document)
    if args.json != "-":
        print(text, end="")
    return 0


def compare(args: argparse.Namespace) -> int:
    """Compare one candidate or many with a baseline; all are models of DATA, or a path each."""
    from repeval.report.family import family
    from repeval.report.tables import csv
    from repeval.report.versus import versus

    _refuse_groups(args, "compare")
    if args.many is not None and args.flips:
        raise RepevalError("bad-option", "--flips lists the problems of one pair: not with --many")
    baseline, *candidates = _systems(args)
    options = {
        "condition": args.condition, "margin": None if args.margin is None else args.margin / 100,
        "level": args.level, "n_resamples": args.resamples, "seed": args.seed,
        "cluster": args.cluster,
    }  # fmt: skip
    shown = {"markdown": args.markdown, "everything": args.all}
    outcomes = _load(args)
    if args.many is None:
        found = versus(outcomes, baseline, *candidates, **options)
        table, shown["flips"] = found.problems, args.flips
    else:
        found = family(outcomes, baseline, candidates, **options)
        table = found.to_frame()
    if args.csv:
        _write(args.csv, csv(table))
    return _shown(args, found, **shown)


def gate(args: argparse.Namespace) -> int:
    """Hold a candidate against a baseline and a margin; 1 unless it passes."""
    from repeval.report.gate import gated

    _refuse_groups(args, "gate")
    baseline, candidate = _systems(args)
    found = gated(
        _load(args), baseline, candidate, margin=args.margin / 100, question=args.question,
        looks=args.looks, unsure=args.unsure, drop=None if args.drop is None else args.drop / 100,
        condition=args.condition, level=args.level, n_resamples=args.resamples, seed=args.seed,
        cluster=args.cluster,
    )  # fmt: skip
    if args.json:
        _write_json(args.json, found.to_dict())
    if args.json != "-":
        with contextlib.suppress(BrokenPipeError):  # who left is told by the exit code
            print(found.screen(markdown=args.markdown, everything=args.all), end="", flush=True)
    return found.exit_code


def plan(args: argparse.Namespace) -> int:
    """Say what to buy next, or what a part of the problems says of all."""
    from repeval.report.plan import what_next
    from repeval.report.subset import from_part

    _refuse_groups(args, "plan")
    if args.subset is not None:
        others = (
            "budget", "width", "separate", "model", "difference", "cluster", "problem_cost",
            "run_cost",
        )  # fmt: skip
        if given := [name for name in others if getattr(args, name) is not None]:
            other = given[0].replace("_", "-")
            raise RepevalError("bad-option", f"--subset and --{other}: choose one")
        found = from_part(_load(args), args.subset, condition=args.condition, level=args.level)
    else:
        from repeval.io.readers.usage import stated

        outcomes = _load(args)
        usage = None
        if args.data and args.run_cost is None:
            usage = stated(args.data, scorer=args.scorer, format=args.format)
        found = what_next(
            outcomes, usage=usage, model=args.model, condition=args.condition, budget=args.budget,
            problem_cost=args.problem_cost, run_cost=args.run_cost, separate=args.separate,
            width=None if args.width is None else args.width / 100, power=args.power,
            difference=None if args.difference is None else args.difference / 100,
            looks=args.looks, level=args.level, n_resamples=args.resamples, seed=args.seed,
            cluster=args.cluster,
        )  # fmt: skip
    return _shown(args, found, markdown=args.markdown, everything=args.all)


def _refuse_groups(args: argparse.Namespace, command: str) -> None:
    if args.by:
        raise RepevalError("bad-option", f"--by is not for {command}; use repeval analyze")


def _systems(args: argparse.Namespace) -> list[str]:
    """Return the names of baseline and candidates, and leave in `args.data` what holds them."""
    from repeval.io.tables.systems import sorted_words, systems

    words, many = [w for w in (args.baseline, args.candidate) if w], getattr(args, "many", None)
    if many is not None:
        words, args.data = sorted_words([*words, *(args.data or []), *many])
    names, args.data = systems(words, args.data)
    return names


def items(args: argparse.Namespace) -> int:
    """Say which problems are flaky, passed by all or by none, and which decide a pair."""
    from repeval.report.items import problems
    from repeval.report.tables import csv

    _refuse_groups(args, "items")
    found = problems(
        _load(args), pair=args.pair, condition=args.condition, level=args.level,
        n_resamples=args.resamples, seed=args.seed, cluster=args.cluster,
    )  # fmt: skip
    if args.csv:
        _write(args.csv, csv(found.to_frame()))
    return _shown(args, found, markdown=args.markdown)


def rank(args: argparse.Namespace) -> int:
    """Print a leaderboard, or write it in the format of the file's ending."""
    from repeval.report.leaderboard import FORMATS, leaderboard

    _refuse_groups(args, "rank")
    for path in args.output:
        if Path(path).suffix.removeprefix(".") not in FORMATS:
            endings = ", ".join(f".{kind}" for kind in FORMATS)
            raise RepevalError("bad-option", f"-o {path}: a leaderboard is written to {endings}.")
    outcomes = _load(args)
    board = leaderboard(
        outcomes, condition=args.condition, level=args.level, n_resamples=args.resamples,
        seed=args.seed, cluster=args.cluster,
    )  # fmt: skip
    for path in args.output:
        write(path, board.written(Path(path).suffix.removeprefix(".")).encode())
    if not args.output:
        print(board.screen(), end="")
    return 0


def _answerable(part: Outcomes, cluster: str | None) -> bool:
    """Tell whether a group has two problems, and two clusters, of each of its systems."""
    groups = [part.system_problems(*system) for system in part.systems]
    if cluster in part.labels:
        return all(part.labels.loc[list(p), cluster].nunique() > 1 for p in groups)
    return all(len(p) > 1 for p in groups)


def build(args: argparse.Namespace) -> int:
    """Build the book; 3 if a page or the site failed."""
    _refuse_groups(args, "build")
    from repeval.companion.book import BuildFailed, build

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
        return 3
    print(f"The book is at {page}\nThe answer on one page: {page.parents[1] / 'summary.html'}")
    return 0


def _say_stand_in(outcomes: Outcomes) -> None:
    if outcomes.source.basis == "stand-in":
        from repeval.report.format import STAND_IN

        print(textwrap.fill(STAND_IN, 80))


def check(args: argparse.Namespace) -> int:
    """Say what the data hold and what they warn of."""
    outcomes = _load(args)
    _say_stand_in(outcomes)
    name = printable(outcomes.source.name)
    print(f"{name}: {outcomes.source.n_rows} rows, sha256 {outcomes.source.sha256}")
    for model, condition in outcomes.systems:
        sample = outcomes.system(model, condition)
        runs = sorted(set(sample.runs.tolist()))
        span = str(runs[0]) if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
        print(f"  {printable(model)}, {printable(condition)}: {len(sample)} problems x {span} runs")
    if args.by:
        outcomes.split_by(args.by)
    args.resamples = min(args.resamples, 100)  # no notice rests on draws
    for notice in _answer(outcomes, args).notices:
        print(f"{notice.code}: {printable(notice.text)}")
    print("The data can be analysed.")
    return 0


def convert(args: argparse.Namespace) -> int:
    """Write logs, or raw responses, as a tidy table, or as Every Eval Ever records."""
    from repeval.io.convert import convert, convert_to_records

    options = {"scorer": args.scorer, "format": args.format, "columns": args.columns or None}
    if args.to:
        if args.choices:
            raise RepevalError("bad-option", "--choices writes a table: leave out --to")
        files, notices = convert_to_records(args.logs, args.output, **options)
    else:
        content, notices = convert(args.logs, args.output, choices=args.choices, **options)
        files = {Path(args.output): content}
    write_all(files, folders=bool(args.to))
    for notice in notices:
        print(f"{notice.code}: {printable(notice.text)}")
    for path in files:
        print(f"Written: {printable(path)}")
    return 0


def claims(args: argparse.Namespace) -> int:
    """Hold the texts' claims against the data; 1 if one differs unexplained."""
    from repeval.companion import ledger, studies
    from repeval.companion.book.notebook import Book
    from repeval.companion.ledger import scorecard

    outcomes = _load(args)
    analysis = _answer(outcomes, args)
    size = "full" if args.full else "quick"
    study = functools.partial(
        studies.result, outcomes=outcomes, size=size, seed=args.seed, jobs=args.jobs,
        store=Path("_build/.store/studies"),
    )  # fmt: skip
    ledger.check(analysis, outcomes)
    book = Book(outcomes, analysis, "claims", size, args.seed, Path("."), tables=study)
    found = book.verdicts()
    counts = {verdict: n for verdict, n in ledger.counts(found).items() if n}
    if args.json:
        document = {
            "schema": "repeval/claims/1", **scorecard.made(), "data": analysis.to_dict()["data"],
            "size": size, "counts": counts, "claims": [scorecard.record(v) for v in found],
        }  # fmt: skip
        _write_json(args.json, document)
    if args.json != "-":
        _say_stand_in(outcomes)
        print(scorecard.screen(found, f"{outcomes.source.name}, studies in {size} size"), end="")
    return int(any(v.verdict == "differs" for v in found))


def simulate(args: argparse.Namespace) -> int:
    """Simulate coverage; print a table, or write it as CSV."""
    from repeval.companion.simulate import screen, simulate

    options = {k: v for k, v in vars(args).items() if k not in ("run", "csv")}
    table = simulate(**options)
    if args.csv:
        _write(args.csv, table.to_csv(index=False))
    if args.csv != "-":
        print(screen(args.kind, table), end="")
    return 0


def _shown(args: argparse.Namespace, found: Any, **how: Any) -> int:
    """Write an answer as JSON where asked for, and print it unless a file takes the screen."""
    if args.json:
        _write_json(args.json, found.to_dict())
    if "-" not in (args.json, getattr(args, "csv", None)):
        print(found.screen(**how), end="")
    return 0


def _write_json(path: str, document: dict[str, Any]) -> None:
    from repeval.report.format import json_pieces

    if path == "-":
        sys.stdout.writelines(json_pieces(document))
    else:
        write(path, lambda: map(str.encode, json_pieces(document)))


def _write(path: str, text: str) -> None:
    if path == "-":
        sys.stdout.write(text)
    else:
        write(path, text.encode())


def check_outputs(args: argparse.Namespace) -> None:
    """Refuse outputs of any command over its inputs, the package's data, or each other."""
    options = {"json": "--json", "csv": "--csv", "output": "-o"}
    given = {option: getattr(args, name, None) for name, option in options.items()}
    if not any(given.values()):
        return
    from repeval.io.registry import data_dir

    read = []
    for name in ("data", "baseline", "candidate", "many", "logs", "table"):
        found = getattr(args, name, None) or ()
        read += [found] if isinstance(found, str) else found
    outputs(given, read, closed=[data_dir().resolve()])
