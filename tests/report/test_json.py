"""The JSON of an answer is that of `json`, row by row."""

import json
import math

import numpy as np
import pytest

from repeval.io.outputs import write
from repeval.report.format import json_pieces, json_text
from repeval.report.rows import Law

ROW = Law((0.25, None), 0.1, 0.0, True)
DOCUMENT = {
    "schema": "repeval/x", "empty": [[], {}, ()], "nested": {"a": {"b": [1, (2.5, -0.0)]}},
    "text": 'é "\n\\', 1: {None: 1e300, True: False}, "of numpy": [np.float64(0.1), np.arange(3)],
}  # fmt: skip


def test_it_is_what_json_writes():
    plain = {"indent": 1, "ensure_ascii": False, "default": lambda x: x.tolist()}
    assert json_text(DOCUMENT) == json.dumps(DOCUMENT, **plain) + "\n"


def test_rows_are_objects_and_pieces():
    pieces = list(json_pieces({"rows": [ROW, ROW]}))
    row = {"interval": [0.25, None], "p_greater": 0.1, "p_tie": 0.0, "resolved": True}
    assert json.loads("".join(pieces)) == {"rows": [row, row]}
    assert sum("p_greater" in piece for piece in pieces) == 2


def test_what_steers_a_terminal_is_written_by_its_number():
    assert json_text({"a\u202e": "\x9b"}) == '{\n "a\\u202e": "\\u009b"\n}\n'


@pytest.mark.parametrize("value", [math.nan, math.inf, np.float64("nan")])
def test_what_json_does_not_know_leaves_no_file(tmp_path, value):
    with pytest.raises(ValueError, match="JSON"):
        write(tmp_path / "a.json", lambda: map(str.encode, json_pieces({"a": 1, "b": value})))
    assert not [*tmp_path.iterdir()]
