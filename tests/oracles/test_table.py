"""The table of oracles: every file is in it, as the file says, and on the page on testing."""

import json
from pathlib import Path

from repeval.companion.book.stage import with_lists
from tests.notebooks import counts

HERE = Path(__file__).parent


def test_every_file_is_in_the_table_with_who_made_it():
    table = {row["data"]: row for row in counts.oracles()}
    files = {
        path.name: json.loads(path.read_text(encoding="utf-8")) for path in HERE.glob("*.json")
    }
    assert {*table} == {*files}
    for name, told in files.items():
        assert table[name]["by"] == told["made_by"]
        assert table[name]["cases"] > 0


def test_every_script_and_test_is_named():
    text = (HERE / "README.md").read_text(encoding="utf-8")
    scripts = [p for p in HERE.iterdir() if p.suffix in (".py", ".R") and "test_" not in p.name]
    for path in scripts:
        assert path.name in text or path.name == "written.py"


def test_the_page_shows_what_the_table_has():
    stored = json.loads((counts.ROOT / "data/counts.json").read_text(encoding="utf-8"))
    # Else: python -m tests.notebooks.counts
    assert stored["oracles"] == counts.oracles()
    page = with_lists("Some.\n\n% oracles\n\nMore.")
    for row in stored["oracles"]:
        assert f"| {row['by']} | {row['holds']} | `{row['data']}` | {row['cases']:,} |" in page
    assert "% oracles" not in page
    assert "`tests/oracles`" in (counts.ROOT / "book/checked.md").read_text(encoding="utf-8")
