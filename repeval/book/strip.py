"""Take from an executed notebook what differs between two runs or belongs to one machine."""

from pathlib import Path

from repeval.book.errors import BuildFailed

__all__ = ["strip"]

KEPT_METADATA = ("kernelspec", "language_info")


def strip(text: str, page: str, root: Path) -> tuple[str, str]:
    """Return the stripped notebook and what its cells wrote to standard error.

    Cell ids are numbered, timings, papermill's notes and staging's header are dropped, and the
    stage's path is written as a dot. The same source, data and versions give the same bytes.

    Parameters
    ----------
    text : str
        An executed notebook.
    page : str
        Its page, for messages.
    root : Path
        The stage it was executed in.

    Raises
    ------
    BuildFailed
        An output is an error: Jupyter Book would publish it without a word.
    """
    import nbformat

    notebook = nbformat.reads(text, as_version=4)
    notebook.metadata = {k: v for k, v in notebook.metadata.items() if k in KEPT_METADATA}
    noise = []
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        for key in ("papermill", "execution"):
            cell.metadata.pop(key, None)
        tags = cell.metadata.get("tags", [])
        if "papermill-error-cell-tag" in tags:
            raise BuildFailed(f"{page}, cell {number}: holds the mark of a failed run.")
        if "injected-parameters" in tags:
            cell.metadata["tags"] = [*tags, "hide-input"]
        if cell.cell_type != "code":
            continue
        kept = []
        for output in cell.outputs:
            if output.output_type == "error":
                raise BuildFailed(
                    f"{page}, cell {number}: {output.ename}: {output.evalue}. "
                    "A page with an error is not published."
                )
            if output.output_type == "stream" and output.name == "stderr":
                noise.append(output.text)
            else:
                kept.append(output)
        cell.outputs = kept
    text = nbformat.writes(notebook).replace(str(root), ".")
    return text + "\n", "".join(noise).strip()
