"""The one exception of a book that was not built."""

__all__ = ["BuildFailed"]


class BuildFailed(Exception):
    """A build that stopped: nothing was published and an older book is as it was.

    The text says which page or step failed and where its files are. The command prints it and
    exits 1.
    """
