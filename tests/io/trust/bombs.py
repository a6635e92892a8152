"""Write small files that hold much, or take long; read each in a process and say what it took.

``python -m tests.io.trust.bombs FOLDER`` prints a line of JSON for each.
"""

from __future__ import annotations

import gzip
import json
import resource
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

HEADER = b"model,problem,run,outcome\n"
SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
#: What a process may take of address space: a failure must not harm the machine.
LIMIT = 6 * 2**30


def separators(folder: Path) -> Path:
    """A row of fifty million empty fields."""
    return packed(folder / "separators.csv.gz", HEADER + b"," * 5 * 10**7)


def rows(folder: Path) -> Path:
    """Three million rows that are alike but for their run."""
    block = b"".join(b"m,a,%d,1\n" % i for i in range(1000))
    return packed(folder / "rows.csv.gz", HEADER + block * 3000)


def objects(folder: Path) -> Path:
    """A line of ten million objects."""
    return packed(folder / "objects.jsonl.gz", b'{"a":[' + b"{}," * 10**7 + b"{}]}\n")


def lines(folder: Path) -> Path:
    """Lines of objects of numbers that no outcome stands beside."""
    line = b'{"problem":"p","outcome":1,"x":{%s}}\n' % b",".join(b'"k%d":1' % i for i in range(500))
    return packed(folder / "lines.json.gz", line * 10_000)


def sparse(folder: Path) -> Path:
    """Rows with a key each that no other has."""
    path = folder / "sparse.jsonl"
    path.write_text("".join(f'{{"problem":"p{i}","k{i}":1}}\n' for i in range(60_000)))
    return path


def crossed(folder: Path) -> Path:
    """An object {a: {b: outcome}} with as many a as b."""
    path = folder / "crossed.json"
    inside = {f"a{i}": {f"b{i}": 1, f"c{i}": 0} for i in range(100_000)}
    path.write_text(json.dumps(inside))
    return path


def wide(folder: Path) -> Path:
    """Two million runs, a column for each of two thousand."""
    path = folder / "wide.csv"
    names = ",".join(f"run_{i}" for i in range(2000))
    rows = "".join(f"m,p{i}" + ",1,0" * 1000 + "\n" for i in range(1000))
    path.write_text(f"model,problem,{names}\n{rows}")
    return path


def headers(folder: Path) -> Path:
    """A header of a hundred thousand columns."""
    path = folder / "headers.csv"
    names = ",".join(f"c{i}" for i in range(100_000))
    path.write_text(f"model,problem,run,outcome,{names}\n" + "m,a,1,1" + "," * 100_000 + "\n")
    return path


def texts(folder: Path) -> Path:
    """A million rows of one long text."""
    note = pa.DictionaryArray.from_arrays(pa.array([0] * 10**6, pa.int32()), ["x" * 20_000])
    table = pa.table({"problem": pa.array(range(10**6)), "outcome": [1] * 10**6, "note": note})
    pq.write_table(table, folder / "texts.parquet", compression="zstd")
    return folder / "texts.parquet"


def ids(folder: Path) -> Path:
    """Three million problems, as differences that are all 1."""
    n = 3 * 10**6
    table = pa.table({"problem": pa.array(range(n)), "outcome": pa.array([1] * n)})
    path = folder / "ids.parquet"
    pq.write_table(
        table, path, use_dictionary=["outcome"], column_encoding={"problem": "DELTA_BINARY_PACKED"}
    )
    return path


def lists(folder: Path) -> Path:
    """Lists of one long text in a column of lists."""
    many = pa.DictionaryArray.from_arrays(pa.array([0] * 10**5, pa.int32()), ["y" * 20_000])
    many = pa.ListArray.from_arrays([0, 10**5, 10**5], many)
    table = pa.table({"problem": ["a", "b"], "outcome": [1, 0], "notes": many})
    pq.write_table(table, folder / "lists.parquet")
    return folder / "lists.parquet"


def cells(folder: Path) -> Path:
    """Rows of a workbook with one field, in the last column that there may be."""
    row = '<row r="{0}"><c r="XFD{0}" t="n"><v>1</v></c></row>'
    sheet = "".join(row.format(i) for i in range(1, 20_001))
    main = '<?xml version="1.0"?><{0} xmlns="{1}" xmlns:r="{2}">{3}</{0}>'
    book = '<sheets><sheet name="s" sheetId="1" r:id="r1"/></sheets>'
    link = '<Relationship Id="r1" Type="{0}/{1}" Target="{2}"/>'
    relations = f'<Relationships xmlns="{RELATIONS}">{{}}</Relationships>'
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = "".join(
        f'<Override PartName="/{name}" ContentType="{kind}.{what}+xml"/>'
        for name, what in (("b.xml", "sheet.main"), ("s.xml", "worksheet"))
    )
    with zipfile.ZipFile(folder / "cells.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", f'<Types xmlns="{TYPES}">{parts}</Types>')
        first = relations.format(link.format(OFFICE, "officeDocument", "b.xml"))
        archive.writestr("_rels/.rels", first)
        archive.writestr("b.xml", main.format("workbook", SHEET, OFFICE, book))
        second = relations.format(link.format(OFFICE, "worksheet", "s.xml"))
        archive.writestr("_rels/b.xml.rels", second)
        data = f"<sheetData>{sheet}</sheetData>"
        archive.writestr("s.xml", main.format("worksheet", SHEET, OFFICE, data))
    return folder / "cells.xlsx"


def summaries(folder: Path) -> Path:
    """The summaries of an Inspect archive as a list of ten million objects."""
    return archived(folder / "summaries.eval", {"summaries.json": b"[" + b"{}," * 10**7 + b"{}]"})


def samples(folder: Path) -> Path:
    """Samples of an Inspect archive, each of four MiB of zeros."""
    zeros = b'{"id":1,"epoch":1,"x":"' + b"0" * 2**22 + b'"}'
    return archived(folder / "samples.eval", {f"samples/{i}.json": zeros for i in range(70)})


def empty(folder: Path) -> Path:
    """Two million empty samples of an Inspect log."""
    path = folder / "empty.json"
    header = '{"version":2,"status":"success","eval":{"task":"t","model":"m"},"samples":['
    path.write_text(header + "{}," * 2 * 10**6 + "{}]}")
    return path


def packed(path: Path, data: bytes) -> Path:
    path.write_bytes(gzip.compress(data, 3))
    return path


def archived(path: Path, members: dict[str, bytes]) -> Path:
    header = {"status": "success", "eval": {"task": "t", "model": "m", "config": {}}}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive:
        archive.writestr("header.json", json.dumps(header))
        for name, data in members.items():
            archive.writestr(name, data)
    return path


BOMBS: dict[str, Callable[[Path], Path]] = {
    bomb.__name__: bomb
    for bomb in (separators, rows, objects, lines, sparse, crossed, wide, headers, texts, ids,
                 lists, cells, summaries, samples, empty)
}  # fmt: skip


def taken(path: Path, use: Callable[[Path], object] | None = None) -> dict[str, object]:
    """Read or use a file; return its size, the peak of memory in bytes, seconds, what was said."""
    from repeval import RepevalError, load

    use = use or load
    Path("/proc/self/clear_refs").write_text("5")
    # Of the process alone: what others do on the machine does not count.
    start = time.process_time()
    try:
        use(path)
        said = "read"
    except RepevalError as error:
        said = error.code
    except BaseException as error:  # whatever it is, the test shows it
        said = repr(error)[:200]
    seconds = time.process_time() - start
    (peak,) = (x for x in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in x)
    about = {"name": path.name, "size": path.stat().st_size, "peak": int(peak.split()[1]) * 1024}
    return {**about, "seconds": seconds, "said": said}


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
    for given in sys.argv[1:]:
        print(json.dumps(taken(Path(given))), flush=True)
