"""The one reduction: rows that agree in everything but their run become one row and a bit a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np

from repeval.io.engines.parts import Part
from repeval.io.frames import plain_values, quiet

__all__ = ["BITS", "Codes", "Reduced", "distinct", "lookup", "reduced", "together"]

#: Runs a row of the reduction stands for: sums of so many powers of two are exact everywhere.
BITS = 32
COUNTS = ("chunk", "mask", "n", "first", "last")
#: Bytes that are taken for a row of it, with its names, and by the engine.
GROUP, ENGINE = 270, 2**26
#: Rows that are fetched at once.
BATCH = 2**18


class Codes(NamedTuple):
    """A column as codes, and the values that they stand for, as the engine has them."""

    codes: np.ndarray
    values: list[Any]


class Reduced(NamedTuple):
    """Groups of rows.

    `columns` holds each group's values by the name of the column in the engine; `chunk` and `mask`
    which runs it has (bit b of chunk c is run `BITS` * c + b), `n` how many rows; `first` and
    `last` are the numbers of its first and last row, where they were asked for. `numbers` are the
    outcomes where the engine has them as floats: their codes are then to be made.
    """

    columns: dict[str, Codes]
    numbers: np.ndarray | None
    chunk: np.ndarray
    mask: np.ndarray
    n: np.ndarray
    first: np.ndarray | None
    last: np.ndarray | None


def together(parts: Sequence[Part], numbered: bool = False) -> nw.LazyFrame:
    """Return the rows of parts of one kind and with the same columns as one frame."""
    frames = [part.numbered() if numbered else part.frame for part in parts]
    if numbered:
        # A table has fewer rows than this; parts follow each other.
        frames = [f.with_columns(nw.col("row") + i * 2**40) for i, f in enumerate(frames)]
    return nw.concat(frames) if len(frames) > 1 else frames[0]


def distinct(
    part: Part, frame: nw.LazyFrame, columns: Sequence[str], most: int | None = None
) -> tuple[Any, list[list[Any]]]:
    """Return the different values of some columns: as a narwhals frame, and as a list for each."""
    with quiet():
        # Dask would move all rows between its workers for `unique`.
        found = frame.group_by(*columns).agg(nw.len().alias("n"))
        found = (found if most is None else found.head(most)).collect().select(*columns)
    plain = plain_values if part.kind == "frame" else lambda column: column.to_list()
    return found, [plain(found[column]) for column in columns]


def lookup(part: Part, runs: Any, place: np.ndarray) -> nw.LazyFrame:
    """Return the frame of a part's different runs with their places, in its engine.

    Parameters
    ----------
    runs
        What `distinct` gave.
    place : int array
        The place of each of them.
    """
    more = {"chunk": place // BITS, "bit": np.left_shift(1, place % BITS)}
    runs = runs.with_columns(
        *(nw.new_series(name, values.tolist(), nw.Int64(), backend=runs.implementation)
          for name, values in more.items())
    )  # fmt: skip
    if part.engine == "duckdb":
        # DuckDB finds the table by the name of this variable.
        run_places = runs.to_arrow()  # noqa: F841
        native = part.frame.to_native().query("unused", "select * from run_places")
        return nw.from_native(native)
    if part.engine == "polars":
        return runs.lazy()
    import dask.dataframe as dd

    with quiet():
        return nw.from_native(dd.from_pandas(runs.to_native(), npartitions=1))


def reduced(
    part: Part,
    frame: nw.LazyFrame,
    keys: Sequence[str],
    runs: Sequence[str],
    places: nw.LazyFrame | int,
    outcome: str,
    numbered: bool = False,
) -> Reduced:
    """Group the rows of a frame by `keys` and by the chunk of their run.

    Parameters
    ----------
    part
        Of what kind and engine the frame is.
    runs, places
        The columns that tell runs, and what `lookup` gave for them; else the one run's place.
    numbered : bool
        Whether to tell the first and the last row; every run is then a group of its own.
    """
    with quiet():
        if isinstance(places, int):
            only = {"chunk": places // BITS, "bit": 1 << places % BITS}
            frame = frame.with_columns(nw.lit(v, nw.Int64()).alias(c) for c, v in only.items())
        else:
            frame = frame.join(places, on=list(runs), how="inner")
        sums = [nw.len().alias("n"), nw.col("bit").sum().alias("mask")]
        if numbered:
            frame = frame.with_columns(nw.col("bit").alias("one"))
            sums = [
                nw.len().alias("n"),
                nw.col("bit").min().alias("mask"),
                nw.col("row").min().alias("first"),
                nw.col("row").max().alias("last"),
            ]
        by = [*keys, "chunk", *(["one"] if numbered else [])]
        groups = frame.group_by(*by).agg(*sums)
        counts = [c for c in COUNTS if c in groups.collect_schema().names()]
        groups = groups.with_columns(nw.col(name).cast(nw.Int64()) for name in counts)
        return _fetched(part, groups, keys, counts, outcome)


def _fetched(
    part: Part, frame: nw.LazyFrame, keys: Sequence[str], counts: Sequence[str], outcome: str
) -> Reduced:
    found: dict[str, list[Any]] = {name: [] for name in (*keys, *counts)}
    numbers: list[np.ndarray] = []
    size = 0
    for batch in _batches(frame, part.engine):
        size += len(batch)
        part.room.hold(part.name, ENGINE + GROUP * size)
        for name, pieces in found.items():
            column = batch[name]
            if name == outcome and column.dtype == nw.Float64():
                numbers.append(column.to_numpy().astype(float))
            elif name in counts:
                pieces.append(column.to_numpy())
            else:
                pieces.append(_encoded(column))
    columns = {key: _codes(part, found[key]) for key in keys if found[key]}
    if numbers:
        columns[outcome] = Codes(np.zeros(sum(map(len, numbers)), dtype=np.int64), [])
    rest = [np.concatenate(found[name]) if name in found else None for name in COUNTS]
    return Reduced(columns, np.concatenate(numbers) if numbers else None, *rest)


def _batches(frame: nw.LazyFrame, engine: str) -> Iterator[nw.DataFrame]:
    """Compute a frame, piece by piece where its engine can."""
    native = frame.to_native()
    if engine == "duckdb":
        import pyarrow as pa

        reader = getattr(native, "to_arrow_reader", None) or native.fetch_arrow_reader
        for batch in reader(BATCH):
            yield nw.from_native(pa.Table.from_batches([batch]))
    elif engine == "polars":
        yield nw.from_native(native.collect(engine="streaming"))
    else:
        yield frame.collect()


def _encoded(column: nw.Series) -> Any:
    """Return a column in Arrow's dictionary encoding; that of pandas as codes and values."""
    if column.implementation.is_pandas():
        import pandas as pd

        return pd.factorize(column.to_native(), use_na_sentinel=False)
    import pyarrow as pa

    array = column.to_arrow()
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if pa.types.is_nested(array.type):
        return pa.array(list(map(repr, array.to_pylist()))).dictionary_encode()
    return array.dictionary_encode()


def _codes(part: Part, pieces: Sequence[Any]) -> Codes:
    """Return the codes of a column that came in pieces."""
    if isinstance(pieces[0], tuple):
        import pandas as pd

        ((codes, values),) = pieces
        distinct = nw.from_native(pd.Series(values), series_only=True)
    else:
        import pyarrow as pa

        whole = pa.chunked_array(pieces).unify_dictionaries()
        found = whole.chunk(0).dictionary
        # Null is the last code.
        codes = np.concatenate([c.indices.fill_null(len(found)).to_numpy() for c in whole.chunks])
        distinct = nw.from_native(pa.chunked_array([found]), series_only=True)
    values = plain_values(distinct) if part.kind == "frame" else distinct.to_list()
    return Codes(codes, [*values, None] if len(codes) and codes.max() == len(values) else values)
