"""The built pages in a real browser, over file://, at two widths."""

import pytest

from repeval.book.site import find_chromium

playwright = pytest.importorskip("playwright.sync_api")
axe = pytest.importorskip("axe_playwright_python.sync_playwright")

# What the theme (a sidebar block) and docutils (citation lists) break on their own.
THEME_RULES = {"region"}
CITATION_RULES = {"aria-allowed-role", "aria-deprecated-role", "aria-required-children"}


@pytest.fixture(scope="module")
def browser():
    path = find_chromium()
    if path is None:
        pytest.skip("no Chromium or Chrome is installed")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize(
    "page", ["index", "book/your-data", "book/glossary", "book/references", "notebooks/both"]
)
def test_pages_are_quiet_self_contained_and_fit(browser, book, page, width):
    home, *_ = book
    tab = browser.new_page(viewport={"width": width, "height": 900})
    trouble = []
    tab.on("console", lambda m: m.type in ("error", "warning") and trouble.append(m.text))
    tab.on("pageerror", lambda error: trouble.append(str(error)))
    tab.on("request", lambda r: r.url.startswith(("file:", "data:")) or trouble.append(r.url))
    tab.goto((home / "html" / f"{page}.html").as_uri())
    if page == "index":
        tab.wait_for_url("**/book/index.html")
    tab.wait_for_load_state("networkidle")
    if page in ("book/glossary", "notebooks/both"):
        tab.wait_for_selector("mjx-container")
    assert trouble == []
    # Wide tables scroll in their own box; the page itself never does.
    assert tab.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    found = axe.Axe().run(tab).response["violations"]
    known = THEME_RULES | (CITATION_RULES if page == "book/references" else set())
    assert [(r["id"], r["nodes"][0]["html"]) for r in found if r["id"] not in known] == []
    tab.close()


def test_hostile_names_do_nothing(browser, book):
    home, *_ = book
    tab = browser.new_page()
    dialogs = []
    tab.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    tab.goto((home / "html/notebooks/both.html").as_uri())
    tab.wait_for_selector("figure.repeval-figure img")
    assert dialogs == []
    assert "<script>alert(1)</script>" in tab.inner_text("article")
    assert tab.evaluate("document.querySelector('figure.repeval-figure img').naturalWidth") > 0
    tab.close()
