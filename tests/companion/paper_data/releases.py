"""The stand-in tensor in every layout the paper's release could have."""

import gzip
import io
import json
import zipfile

import numpy as np
import pandas as pd

from repeval.io import registry

IDS = {
    "Gemini 2.5 Flash+Think": "gemini-2.5-flash-thinking",
    "Gemini 3.1 Pro": "gemini-3.1-pro-preview",
    "Claude Haiku 4.5": "claude-haiku-4-5-20251001",
}
PROMPTS = {"Detailed": "with_prompt", "Minimal": "without_prompt"}


def api_id(model: str) -> str:
    return IDS.get(model, model.lower().replace(" ", "-"))


def rows() -> pd.DataFrame:
    """Return the stand-in's rows, under the names a release would have."""
    table = pd.read_csv(registry.data_dir() / "reconstruction.csv.gz", dtype={"problem": str})
    return table.assign(
        model=table["model"].map(api_id), run=table["run"].astype(int) - 1,
        problem=table["problem"].str.lstrip("P"), prompt=table["condition"].map(PROMPTS),
    )  # fmt: skip


def csv(table: pd.DataFrame) -> bytes:
    return table.to_csv(index=False).encode()


def lines(table: pd.DataFrame) -> bytes:
    return table.to_json(orient="records", lines=True).encode()


def long(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "model_name": table["model"], "prompt_type": table["condition"].str.lower(),
            "problem_id": table["problem"], "trial_index": table["run"],
            "accepted_bool": table["outcome"].astype(bool), "difficulty": table["difficulty"],
        }
    )  # fmt: skip


def nested(table: pd.DataFrame) -> dict[str, bytes]:
    words = {1: "Accepted", 0: "Wrong Answer"}
    files = {}
    for model, part in table.groupby("model"):
        problems = []
        for problem, all_runs in part.groupby("problem"):
            record = {"problem_id": problem, "difficulty": all_runs["difficulty"].iloc[0]}
            for prompt in PROMPTS.values():
                mine = all_runs[all_runs["prompt"] == prompt].sort_values("run")
                record[prompt] = [{"status": words[k]} for k in mine["outcome"]]
            problems.append(record)
        files[f"results/{model}.json"] = json.dumps(problems).encode()
    return files


def wide(table: pd.DataFrame) -> pd.DataFrame:
    by = ["model", "prompt", "problem"]
    found = table.pivot(index=by, columns="run", values="outcome")
    found.columns = [f"run_{r + 1}" for r in found]
    return found.astype("Int64").reset_index()


def tensor(table: pd.DataFrame) -> dict[str, bytes]:
    by = ["model", "condition", "problem", "run"]
    levels = [sorted(table[key].unique()) for key in by]
    full = table.set_index(by)["outcome"].reindex(pd.MultiIndex.from_product(levels))
    buffer = io.BytesIO()
    np.save(buffer, full.to_numpy(float).reshape([len(level) for level in levels]))
    names = dict(zip(("models", "prompts", "problems"), levels, strict=False))
    files = {f"{key}.json": json.dumps(list(value)).encode() for key, value in names.items()}
    return files | {"tensor.npy": buffer.getvalue()}


def experiments(table: pd.DataFrame) -> dict[str, bytes]:
    raw = long(table).drop(columns="model_name").assign(strategy=table["prompt"])
    raw = raw.drop(columns="prompt_type")
    parts = raw.groupby(table["model"])
    return {f"logs/20260401_120000_{model}.jsonl": lines(part) for model, part in parts}


def resumed(table: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([table, table.iloc[100:140]])


def _layouts() -> dict[str, dict[str, bytes]]:
    table = rows()
    raw, noise = long(table), {"README.txt": b"words", "tables/summary.csv": b"model,rate\na,1\n"}
    other = raw.assign(accepted_bool=~raw["accepted_bool"])
    found = {
        "rows": {"data/outcomes.csv": csv(raw)},
        "compressed": {"outcomes.csv.gz": gzip.compress(csv(raw))},
        "json lines": {"outcomes.jsonl": lines(raw)},
        "resumed": {"outcomes.csv": csv(resumed(raw))},
        "nested": nested(table),
        "wide": {"wide.csv": csv(wide(table))},
        "tensor": tensor(table),
        "experiments": experiments(table),
        "other outcome": {"data/outcomes.csv": csv(other)},
    }
    return {name: files | noise for name, files in found.items()}


LAYOUTS = _layouts()


def zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        for name, data in files.items():
            packed.writestr(f"repo-main/{name}", data)
    return buffer.getvalue()
