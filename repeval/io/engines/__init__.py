"""Tables too large to hold: reduced where they are, by DuckDB, Polars or Dask, and then read."""
