"""Figures of the book: each function draws one idea from an analysis and returns a `Plot`."""

from repeval.companion.plots.style import Plot

__all__ = ["Plot"]
