"""Put a finished stage in the place of the book that is there."""

import base64
import json
from pathlib import Path

__all__ = ["collect_figures", "publish", "write_json"]


def collect_figures(root: Path) -> None:
    """Write the figures that executed notebooks carry to the stage, for reading and for links."""
    import nbformat

    folder = root / "extra" / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted((root / "notebooks").glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            for output in cell.get("outputs", []):
                if "repeval" not in output.get("metadata", {}):
                    continue
                name, data = output["metadata"]["repeval"]["figure"], output["data"]
                write_bytes(folder / f"{name}.svg", data["image/svg+xml"].encode())
                write_bytes(folder / f"{name}.png", base64.b64decode(data["image/png"]))
                write_bytes(folder / f"{name}.csv", output["metadata"]["repeval"]["csv"].encode())


def publish(root: Path, home: Path) -> Path:
    """Move what was built from the stage to `home`; the old book stays until all is there.

    Returns
    -------
    Path
        The first page.
    """
    parts = {
        "analysis.json": root / "analysis.json",
        "data": root / "data",
        "notebooks": root / "notebooks",
        "figures": root / "extra" / "figures",
        "pdf": root / "pdf",
        "html": root / "_build" / "html",
    }
    old = root / ".old"
    old.mkdir()
    for name, source in parts.items():
        target = home / name
        if target.exists():
            target.replace(old / name)
        if source.exists():
            source.replace(target)
    return home / "html" / "index.html"


def write_json(path: Path, value) -> None:
    """Write JSON, the same bytes for the same value."""
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def write_bytes(path: Path, content: bytes) -> None:
    """Write a figure's file; two figures of one name are a mistake of the pages."""
    if path.exists() and path.read_bytes() != content:
        raise ValueError(f"two figures are called {path.name}")
    path.write_bytes(content)
