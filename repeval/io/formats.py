"""The formats that can be read, by name; light, as the command line lists them for its help."""

from __future__ import annotations

#: Tables by extension, and how they are read.
FORMATS = {"csv": "csv", "tsv": "csv", "jsonl": "jsonl", "ndjson": "jsonl", "parquet": "parquet",
           "json": "json", "xlsx": "xlsx"}  # fmt: skip

#: Logs by harness, each the name of a module in `repeval.io.readers`, in the order of asking.
READERS = (
    "inspect", "tau_bench", "tau2_bench", "terminal_bench", "harbor", "lm_eval", "swebench",
    "evalplus", "promptfoo", "openai_evals", "eee",
)  # fmt: skip
