"""Lay out everything a book is built from in one folder, fitted to the data."""

import hashlib
import importlib
import json
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from repeval.book.errors import BuildFailed
from repeval.report import STAND_IN

__all__ = ["Staged", "is_paper", "load_data", "stage"]
# Words of the configuration that would be false on other data.
OTHER_CAPTIONS = {"The paper, claim by claim": "Question by question"}
FOOTER = ("Independent recomputation of", "The questions of")


@dataclass(frozen=True)
class Staged:
    """A staged book: its pages in order, the notebooks' sources, and its data's path and hash."""

    pages: tuple[str, ...]
    notebooks: Mapping[str, str]
    data: str
    inputs: str


def is_paper(outcomes) -> bool:
    """Whether the data are the paper's, released or rebuilt."""
    return outcomes.source.basis in ("released", "stand-in")


def stage(outcomes, analysis, root: Path, *, share: Path, name: str, options: Mapping):
    """Fill `root` with the pages that fit the data, the table, the configuration and MathJax.

    Parameters
    ----------
    outcomes : repeval.Outcomes
        The data of the book.
    analysis : repeval.Analysis
        Its answer, from which pages take single numbers and figures.
    root : Path
        An empty folder.
    share : Path
        Folder with ``book``, ``notebooks``, ``_config.yml`` and ``_toc.yml``.
    name : str
        Name of the book and of its table.
    options : mapping
        Keywords of `repeval.analyze` that the notebooks use too.

    Returns
    -------
    Staged
        What there is to execute and to build.
    """
    import yaml

    paper = is_paper(outcomes)
    have = {
        "models": len(outcomes.models),
        "conditions": len(outcomes.conditions),
        "runs": int(outcomes.frame.groupby(["model", "condition", "problem"]).size().max()),
    }

    def fits(page: str) -> bool:
        header = front_matter(read_page(share, page))
        needs = header.get("requires", {})
        if unknown := set(needs) - set(have):
            raise BuildFailed(f"{page}.md requires {', '.join(unknown)}; known: {', '.join(have)}.")
        return (paper or header.get("about") != "paper") and all(
            have[what] >= least for what, least in needs.items()
        )

    toc = yaml.safe_load((share / "_toc.yml").read_text(encoding="utf-8"))
    toc, pages = fit_toc(toc, fits)
    shown = numbers(analysis)

    def holds(condition: str) -> bool:
        known = {"paper": paper, "other": not paper}
        return known.get(condition, condition in pages or bool(shown.get(condition)))

    shutil.copytree(
        share / "book", root / "book", ignore=shutil.ignore_patterns("*.md", "__pycache__")
    )
    texts = {page: keep_passages(read_page(share, page), page, holds) for page in pages}
    notebooks = {page: text for page, text in texts.items() if page.startswith("notebooks/")}
    for page in pages:
        if page not in notebooks:
            write(root / f"{page}.md", with_figures(without_conditions(texts[page]), analysis))
    config = yaml.safe_load((share / "_config.yml").read_text(encoding="utf-8"))
    if outcomes.source.basis == "stand-in":
        config["html"]["announcement"] = STAND_IN
    if not paper:
        config["title"] += f" ({name})"
        config["html"]["extra_footer"] = config["html"]["extra_footer"].replace(*FOOTER)
        for part in toc["parts"]:
            part["caption"] = OTHER_CAPTIONS.get(part["caption"], part["caption"])
    write(root / "_config.yml", yaml.safe_dump(config, sort_keys=False, allow_unicode=True))
    write(root / "_toc.yml", yaml.safe_dump(toc, sort_keys=False))
    write(root / "numbers.json", json.dumps(shown))
    copy_mathjax(root / "extra" / "mathjax")
    data = f"data/{name}.csv"
    inputs = save_data(outcomes, root / data, options)
    return Staged(tuple(pages), notebooks, data, inputs)


def read_page(share: Path, page: str) -> str:
    """Text of a page of the contents."""
    try:
        return (share / f"{page}.md").read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BuildFailed(f"_toc.yml names {page}, and there is no {page}.md beside it.") from None


def front_matter(text: str) -> dict:
    """YAML header of a page, empty where there is none."""
    import yaml

    if not text.startswith("---\n"):
        return {}
    return yaml.safe_load(text[4:].split("\n---", 1)[0]) or {}


def without_conditions(text: str) -> str:
    """Drop the header lines that only staging reads."""
    if not text.startswith("---\n"):
        return text
    header, body = text[4:].split("\n---", 1)
    lines = [li for li in header.split("\n") if not li.startswith(("about:", "requires:"))]
    return "---\n" + "\n".join(lines) + "\n---" + body


def fit_toc(toc: Mapping, fits: Callable[[str], bool]) -> tuple[dict, list[str]]:
    """Contents without the pages that do not fit, and the pages left, in order."""
    pages = [toc["root"]]
    parts = []
    for part in toc["parts"]:
        chapters = [chapter for chapter in part["chapters"] if fits(chapter["file"])]
        pages += [chapter["file"] for chapter in chapters]
        if chapters:
            parts.append({**part, "chapters": chapters})
    return {**toc, "parts": parts}, pages


def keep_passages(text: str, page: str, holds: Callable[[str], bool]) -> str:
    """Drop passages from ``% only: CONDITION, …`` to ``% end`` unless all conditions hold."""
    kept, inside, keep = [], False, True
    for number, line in enumerate(text.split("\n"), 1):
        opens, closes = line.startswith("% only:"), line.strip() == "% end"
        if opens == inside and (opens or closes):
            raise BuildFailed(f"{page}.md, line {number}: {line.strip()!r} has no counterpart.")
        if opens:
            conditions = line.removeprefix("% only:").split(",")
            inside, keep = True, all(holds(condition.strip()) for condition in conditions)
        elif closes:
            inside, keep = False, True
        elif keep:
            kept.append(line)
    if inside:
        raise BuildFailed(f"{page}.md: a passage begun by '% only:' is not ended by '% end'.")
    return "\n".join(kept)


def numbers(analysis) -> dict:
    """Single numbers that pages outside the notebooks show, by key.

    The data's figures, and the summary of the condition reported first; `x_median`, `x_min` and
    `x_max` where the summary has all three.
    """
    document = analysis.to_dict()
    found = {**document["data"], "condition": analysis.condition}
    for key, value in document["summary"][analysis.condition].items():
        if isinstance(value, list | tuple):
            ends = ("median", "min", "max")
            found |= {f"{key}_{end}": v for end, v in zip(ends, value, strict=True)}
        else:
            found[key] = value
    return {key: value for key, value in found.items() if value is not None}


def with_figures(text: str, analysis) -> str:
    """Replace lines ``% figure: MODULE.FUNCTION`` by what that function of `figures` draws."""
    from repeval.book.notebook import figure_html, images

    def drawn(match: re.Match) -> str:
        family = importlib.import_module(f"repeval.figures.{match[1]}")
        plot = getattr(family, match[2])(analysis, analysis.condition)
        return figure_html(plot, images(plot.figure)[0], match[2], analysis.source)

    return re.sub(r"^% figure: (\w+)\.(\w+)$", drawn, text, flags=re.MULTILINE)


def save_data(outcomes, path: Path, options: Mapping) -> str:
    """Write the canonical table and, beside it, what a table cannot say; return their hash."""
    path.parent.mkdir(parents=True, exist_ok=True)
    outcomes.to_csv(path)
    about = {
        "source": asdict(outcomes.source),
        "policy": asdict(outcomes.policy),
        "notices": [asdict(notice) for notice in outcomes.notices],
        "analyze": dict(options),
    }
    write(path.with_suffix(".json"), json.dumps(about, indent=1))
    digest = hashlib.sha256(path.read_bytes())
    digest.update(path.with_suffix(".json").read_bytes())
    return digest.hexdigest()


def load_data(path: Path, name: str):
    """Read back what `save_data` wrote, or any table that stands alone.

    Returns
    -------
    outcomes : repeval.Outcomes
        With the source, policy and notices of the data first read.
    options : dict
        Keywords of `repeval.analyze`.
    """
    from repeval import load
    from repeval.notices import Notice
    from repeval.outcomes import Policy, Source

    beside = Path(path).with_suffix(".json")
    if not beside.exists():
        return load(path, name=name), {}
    about = json.loads(beside.read_text(encoding="utf-8"))
    policy, source = about["policy"], about["source"]
    policy["columns"] = tuple(map(tuple, policy["columns"]))
    source["excluded"] = tuple(source["excluded"])
    roles = ("model", "condition", "problem", "run", "outcome")
    outcomes = replace(
        # Named outright: a label may be called like another spelling of a role.
        load(path, columns={role: role for role in roles}, missing="keep"),
        source=Source(**source),
        policy=Policy(**policy),
        notices=tuple(Notice(**notice) for notice in about["notices"]),
    )
    return outcomes, about["analyze"]


def copy_mathjax(folder: Path) -> None:
    """Copy the one MathJax file from the package that carries it as data."""
    import importlib.metadata

    files = importlib.metadata.files("django-static-mathjax") or []
    source = next(f for f in files if f.as_posix().endswith("/es5/tex-svg.js"))
    folder.mkdir(parents=True)
    shutil.copyfile(source.locate(), folder / "tex-svg.js")


def write(path: Path, text: str) -> None:
    """Write text, making its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
