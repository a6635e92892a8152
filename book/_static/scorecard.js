"use strict";

// Filter the table of all claims, and write a citation for a row. Without this, all rows show.
document.addEventListener("DOMContentLoaded", () => {
  const table = document.querySelector("table#repeval-claims");
  if (!table) return;
  const form = document.getElementById("repeval-filter");
  const rows = [...table.tBodies[0].rows];
  const chosen = [...form.querySelectorAll("select")];

  const filter = () => {
    let shown = 0;
    for (const row of rows) {
      row.hidden = chosen.some((s) => s.value && s.value !== row.dataset[s.name]);
      shown += !row.hidden;
    }
    form.querySelector("output").textContent = `${shown} of ${rows.length} claims`;
  };

  // A link to a row that the filter hides shows all rows again.
  const reveal = () => {
    const row = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (row && row.hidden) {
      form.reset();
      filter();
      row.scrollIntoView();
    }
  };

  const cite = (row) => {
    const page = location.protocol === "file:" ? "" : `, ${location.href.split("#")[0]}#${row.id}`;
    const cells = [...row.cells].map((cell) => cell.firstChild.textContent.trim());
    const [claim, text, here, verdict] = cells;
    return `${row.id} (${row.dataset.section}: ${claim}): text ${text}, here ${here}, ${verdict}. `
      + `${table.dataset.cite}${page}`;
  };

  for (const row of rows) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "cite this check";
    button.setAttribute("aria-label", `cite this check: ${row.id}`);
    row.querySelector("small").append(" ", button);
  }

  table.addEventListener("click", async (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const row = button.closest("tr");
    const box = row.querySelector("output") || document.createElement("output");
    button.after(box);
    box.textContent = cite(row);
    try {
      await navigator.clipboard.writeText(box.textContent);
      button.textContent = "copied";
      button.removeAttribute("aria-label");
    } catch {
      getSelection().selectAllChildren(box);
    }
  });

  form.addEventListener("change", filter);
  form.addEventListener("reset", () => setTimeout(filter));
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", reveal);
  form.hidden = false;
  filter();
});
