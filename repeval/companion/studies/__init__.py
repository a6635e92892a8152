"""Studies: long computations whose tables are computed once and kept in a store.

A study is one module with

- ``SIZES``: its parameters for the sizes ``quick`` and ``full``;
- ``tasks(outcomes, **parameters)``: independent pieces of work, each a tuple of plain values and
  arrays whose first element is the piece's key;
- ``rows(task, seed, **parameters)``: the rows of one piece, a list of dictionaries.

Each piece draws from the generator of its own key, so a table does not depend on how many
processes made it, nor in which order.
"""

from repeval.companion.studies.store import STUDIES, result

__all__ = ["STUDIES", "result"]
