"""Run the notebooks on a data set and build the book from them."""

from repeval.book.build import build
from repeval.book.process import BuildFailed

__all__ = ["BuildFailed", "build"]
