"""The built pages in a real browser, over file://, at two widths."""

from urllib.parse import quote

import pytest

from repeval import __version__
from repeval.companion.book.site import find_chromium

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
    "page",
    ["index", "book/your-data", "book/glossary", "book/references", "notebooks/both",
     "notebooks/claims", "book/api", "book/drawings", "_modules/repeval/stats/comparison"],
)  # fmt: skip
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
    if page in ("book/glossary", "notebooks/both", "notebooks/claims"):
        tab.wait_for_selector("mjx-container")
    assert trouble == []
    # Wide tables scroll in their own box; the page itself never does.
    assert tab.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    if width < 1000:  # what axe looks for is the same at any width
        tab.close()
        return
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


@pytest.fixture
def rows(browser, book):
    """The table of all claims at the width of a phone; rows that are shown, by a function."""
    home, _, outcomes = book
    tab = browser.new_page(viewport={"width": 390, "height": 900})
    tab.goto((home / "html/notebooks/claims.html").as_uri())
    count = "[...document.querySelectorAll('#repeval-claims tbody tr')].filter(r => r.offsetHeight)"
    yield tab, lambda: tab.evaluate(f"{count}.length"), outcomes
    tab.close()


def test_rows_are_filtered_with_the_keyboard_and_counted_aloud(rows):
    tab, shown, _ = rows
    status = tab.get_by_role("status")
    assert (shown(), status.inner_text()) == (622, "622 of 622 claims")
    tab.get_by_label("Verdict").focus()
    tab.keyboard.press("ArrowDown")
    assert (shown(), status.inner_text()) == (208, "208 of 622 claims")
    tab.get_by_label("Section").select_option("Table 6")
    assert 0 < shown() < 208
    tab.get_by_role("button", name="show all").press("Enter")
    tab.wait_for_function("document.querySelector('output').textContent.startsWith('622')")
    assert shown() == 622
    took = tab.evaluate(
        """() => {
            const select = document.querySelector("select[name=verdict]");
            const start = performance.now();
            select.value = "differs, known";
            select.dispatchEvent(new Event("change", {bubbles: true}));
            document.body.offsetHeight;
            return performance.now() - start;
        }"""
    )
    assert took < 500  # ms; 30 seen


def test_a_link_to_a_hidden_row_shows_it(rows):
    tab, shown, _ = rows
    tab.get_by_label("Section").select_option("Table 6")
    tab.evaluate("location.hash = 'vc-s3-eq1'")
    row = tab.locator("#vc-s3-eq1")
    row.wait_for(state="visible")
    tab.wait_for_function("Math.abs(document.querySelector(':target').getBoundingClientRect().top)"
                          " < innerHeight")  # fmt: skip
    assert shown() == 622
    assert row.get_by_role("link", name="#vc-s3-eq1").get_attribute("href") == "#vc-s3-eq1"


def test_a_row_is_cited_with_version_and_data(rows):
    tab, _, outcomes = rows
    row = tab.locator("#vc-s52-ceiling-median")
    row.get_by_role("button", name="cite this check").press("Enter")
    text = row.locator("output").inner_text()
    assert text.startswith("vc-s52-ceiling-median (Section 5.2: median ceiling")
    assert "text 1.34, here 1.340, " in text
    assert f"repeval {__version__}, data made <i>up (stand-in)" in text
    assert text.endswith(f"SHA-256 {outcomes.source.sha256}")  # no address: the page is a file


def test_without_scripts_all_rows_show(browser, book):
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto((book[0] / "html/notebooks/claims.html").as_uri())
    assert tab.locator("#repeval-claims tbody tr:visible").count() == 622
    assert not tab.locator("#repeval-filter").is_visible()
    context.close()


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("1.34", {"vc-s52-ceiling-median", "vc-abs-ceiling-median"}),
        ("66.6", {"vc-t6-qwenplus-a-mu"}),
        ("23%", {"vc-s52-narrowing-max"}),
        ("12 of 15", {"vc-s51-unresolved"}),
        ("vc-s53-flat-side", {"vc-s53-flat-side"}),
    ],
)
def test_the_search_finds_printed_numbers(browser, book, query, rows):
    tab = browser.new_page()
    address = (book[0] / "html/search.html").as_uri()
    tab.goto(f"{address}?q={quote(query)}")
    tab.wait_for_selector("#search-results li a")
    tab.wait_for_function(
        "document.querySelector('.search-summary').textContent.includes('finished')"
    )
    links = tab.locator("#search-results li a").evaluate_all("all => all.map(a => a.href)")
    found = {link.split("#")[1] for link in links if "claims.html#" in link}
    assert rows <= found
    tab.goto(next(link for link in links if link.endswith(f"#{min(rows)}")))
    assert tab.locator(f"#{min(rows)}:target").count() == 1
    tab.close()
