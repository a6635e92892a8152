"""Sphinx extension of the book: numbers in prose and in search, scripts where they are needed."""

import importlib
import json
import pkgutil
import re
from html import unescape
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)


def number(name, rawtext, text, lineno, inliner, options=None, content=None):
    """Show ``key`` or ``key:format`` of the stage's ``numbers.json`` as plain text."""
    key, _, spec = text.partition(":")
    try:
        return [nodes.Text(format(number.values[key], spec))], []
    except (KeyError, ValueError) as error:
        where = (inliner.document.settings.env.docname, lineno)
        LOGGER.warning("number %r cannot be shown: %r", text, error, location=where)
        return [], []


def read_numbers(app, config):
    """Read the numbers once; a plain build has none, and then warns where one is used."""
    path = Path(app.srcdir) / "numbers.json"
    number.values = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def index_rows(app, doctree):
    """Let the book's search find rows of tables by what their ``data-find`` lists.

    Of numbers in the text the search keeps no more than runs of digits, and asks for none. Added
    after the domains have read the page, so that the general index stays as it is.
    """
    for raw in list(doctree.findall(nodes.raw)):
        rows = re.findall(r'<tr id="([^"]+)"[^>]* data-find="([^"]+)"', raw.astext())
        for anchor, found in rows:
            words = unescape(found).split("|")
            entries = [("single", word, anchor, "main", None) for word in words]
            raw.parent.append(addnodes.index(entries=entries))


def list_drawings(app, docname, source):
    """Put the docstring of every function that draws a figure in place of a line ``% drawings``."""
    if re.search(r"^% drawings$", source[0], re.MULTILINE) is None:
        return
    from repeval.companion import plots

    parts = []
    for found in pkgutil.iter_modules(plots.__path__, f"{plots.__name__}."):
        family = importlib.import_module(found.name)
        drawings = [
            name
            for name, value in vars(family).items()
            if hasattr(value, "__wrapped__")  # in the style of all figures
            and value.__module__ == found.name
            and value.__annotations__.get("return") == "Plot"
        ]
        if not drawings:
            continue
        title = found.name.rpartition(".")[2].replace("_", " ").capitalize()
        lines = [f"## {title}", "", family.__doc__.partition("\n")[0], "", "```{eval-rst}"]
        lines += [f".. autofunction:: {found.name}.{name}" for name in drawings]
        parts.append("\n".join([*lines, "```", ""]))
    source[0] = re.sub(r"^% drawings$", lambda _: "\n".join(parts), source[0], flags=re.MULTILINE)


def list_commands(app, docname, source):
    """Put every command with its options, and every key of the JSON, in place of their lines."""
    if "\n% commands\n" in source[0]:
        source[0] = source[0].replace("\n% commands\n", f"\n{commands_text()}\n")
    if "\n% keys\n" in source[0]:
        source[0] = source[0].replace("\n% keys\n", f"\n{keys_text()}\n")


def commands_text():
    """Return the commands as Markdown; options that all share stand once, at the first."""
    from repeval.cli import _parser

    (subparsers,) = (a for a in _parser()._actions if hasattr(a, "choices") and a.choices)
    said = {action.dest: action.help for action in subparsers._choices_actions}
    lines, known = [], set()
    for name, parser in subparsers.choices.items():
        lines.append(f"## `repeval {name}`\n\n{sentence(said.get(name) or '')}\n")
        shared = 0
        for action in parser._actions:
            if not action.help or "help" in action.dest:
                continue
            words = ", ".join(action.option_strings) or action.metavar or action.dest
            if words in known and action.option_strings:
                shared += 1
                continue
            known.add(words)
            if action.option_strings and action.nargs != 0:
                value = action.metavar or "|".join(
                    map(str, action.choices or [action.dest.upper()])
                )
                words += f" {value if isinstance(value, str) else ' '.join(value)}"
            lines.append(f"`{words}`\n: {sentence(action.help)}\n")
        if shared:
            lines.append(f"And {shared} options that stand above.\n")
    return "\n".join(lines)


def sentence(text):
    """Return a help text as a sentence in which what is typed is set as such."""
    text = re.sub(r"'([^']+)'", r"`\1`", text).rstrip(".")
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('?') else '.'}"


def keys_text():
    """Return the keys of the JSON as Markdown, from the schema that the package ships."""
    from importlib import resources

    path = resources.files("repeval.report") / "analysis-2.schema.json"
    schema = json.loads(path.read_text(encoding="utf-8"))
    lines = [f"Top level: {', '.join(f'`{key}`' for key in schema['properties'])}.\n"]
    for name, part in schema["$defs"].items():
        if keys := part.get("properties"):
            lines.append(f"{name}\n: {part.get('description', '')}\n")
            lines.append(f"  {', '.join(f'`{key}`' for key in keys)}\n")
    return "\n".join(lines)


def link_drawings(app, pagename, templatename, context, doctree):
    """Link the function that a figure was drawn by to its source, where the book shows it.

    Only here, not in the executed notebook: taken away, it has no such page beside it.
    """
    documented = app.env.get_domain("py").objects

    def linked(match):
        module, _, name = match[2].rpartition(".")
        if match[2] not in documented:
            return match[0]
        page = f"_modules/{module.replace('.', '/')}"
        address = f"{app.builder.get_relative_uri(pagename, page)}#{name}"
        return f'{match[1]}<a href="{address}"><code>{match[2]}</code></a>'

    if "body" in context:
        drawn = r"(Drawn by )<code>([\w.]+)</code>"
        context["body"] = re.sub(drawn, linked, context["body"])


def link_terms(app, doctree):
    """Link the first use of each word of the glossary on an executed page."""
    if not app.env.docname.startswith("notebooks/"):
        return
    waiting = dict(read_terms(app.srcdir))
    for text in list(doctree.findall(nodes.Text)):
        if not waiting:
            return
        above = text.parent
        if not isinstance(above, nodes.paragraph | nodes.emphasis | nodes.strong):
            continue
        inside = above if isinstance(above, nodes.paragraph) else above.parent
        if not isinstance(inside, nodes.paragraph) or isinstance(inside.parent, nodes.entry):
            continue
        words = "|".join(map(re.escape, sorted(waiting, key=len, reverse=True)))
        found = re.search(rf"\b({words})(?=s?\b)", text, re.IGNORECASE)
        if found is None:
            continue
        term = waiting[found[1].lower()]
        waiting = {word: t for word, t in waiting.items() if t != term}
        link = addnodes.pending_xref(
            "", nodes.inline(found[1], found[1], classes=["std-term"]),
            refdomain="std", reftype="term", reftarget=term, refexplicit=True, refwarn=True,
            refdoc=app.env.docname,
        )  # fmt: skip
        parts = [nodes.Text(text[: found.start()]), link, nodes.Text(text[found.end() :])]
        above.replace(text, [part for part in parts if part.astext()])


def read_terms(source):
    """Return word -> term of the glossary: a term, and the words in brackets behind it."""
    page = Path(source) / "book" / "glossary.md"
    if not page.exists():
        return {}
    listed = re.search(r"^:{3}\{glossary\}\n(.*?)^:{3}$", page.read_text("utf-8"), re.M | re.S)
    terms = re.findall(r"^(\S.*)\n(?=  )", listed[1], re.MULTILINE) if listed else []
    found = {}
    for term in terms:
        word, _, others = term.partition(" (")
        found |= dict.fromkeys([word.lower(), *others.rstrip(")").lower().split(", ")], term)
    return {word: term for word, term in found.items() if word}


def settle_page(app, pagename, templatename, context, doctree):
    """Keep one of each script, none of thebe (it is off), and name the colour mode."""
    if 'id="repeval-claims"' in context.get("body", ""):
        app.add_js_file("scorecard.js")
    scripts = {}
    for script in context.get("script_files", []):
        # Sphinx 7 lists an inline script twice, with an empty and with no file name.
        what = script.attributes.get("body") or str(script.filename)
        if "thebe" not in what.lower():
            scripts.setdefault(what, script)
    context["script_files"] = list(scripts.values())
    context["default_mode"] = "auto"


def setup(app):
    """Register with Sphinx."""
    app.add_role("number", number)
    app.connect("config-inited", read_numbers)
    app.connect("source-read", list_drawings)
    app.connect("source-read", list_commands)
    app.connect("doctree-read", index_rows)
    app.connect("doctree-read", link_terms)
    app.connect("html-page-context", link_drawings)
    app.connect("html-page-context", settle_page, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
