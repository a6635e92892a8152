"""Run the notebooks on a data set and build the book from them."""

from repeval.companion.book.build import build
from repeval.companion.book.process import BuildFailed

__all__ = ["BuildFailed", "build"]
