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
    app.connect("doctree-read", index_rows)
    app.connect("html-page-context", link_drawings)
    app.connect("html-page-context", settle_page, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
