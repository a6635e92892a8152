"""How outcomes are read, and where they come from; recorded with every result."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Policy", "Source"]


@dataclass(frozen=True)
class Policy:
    """How a table is read; recorded with every result.

    Attributes
    ----------
    columns : tuple of (role, column)
        Explicit column mapping; ``"a+b"`` joins two columns.
    missing : {None, "keep", "drop-problem", "fail", "error"}
        Rule for missing runs; None before loading means the data set's own rule, else keep.
    errors : {"missing", "fail"}
        What a row with a status and no outcome counts as.
    scorer : str or None
        Scorer chosen in a log with several.
    pass_at : float or None
        Score from which a run passes.
    format : str or None
        Format of the files where the extension does not tell.
    """

    columns: tuple[tuple[str, str], ...] = ()
    missing: str | None = None
    errors: str = "missing"
    scorer: str | None = None
    pass_at: float | None = None
    format: str | None = None


@dataclass(frozen=True)
class Source:
    """Where outcomes come from.

    Attributes
    ----------
    name : str
        File name, or the registered title.
    sha256 : str
        Of the input bytes; of the sorted sums where there are several files.
    basis : {"released", "stand-in", "user"}
        Whether this is the paper's tensor, its reconstruction, or other data.
    n_rows : int
        Rows read.
    excluded : tuple of str
        Models that the data set's source leaves out of pooled statistics.
    default_condition : str or None
        The condition its source reports first.
    """

    name: str = "data"
    sha256: str = ""
    basis: str = "user"
    n_rows: int = 0
    excluded: tuple[str, ...] = ()
    default_condition: str | None = None
