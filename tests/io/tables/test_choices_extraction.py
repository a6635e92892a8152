"""Answers found in responses; the rules are the post's, the cases written from its words."""

import random
import re
import time

import pytest

from repeval.io.tables.choices import extract_choice


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("The answer is (C).", "C"),
        ("Therefore the answer is C", "C"),
        ("So the correct answer is: (b)", "B"),
        ("the answer is\n\n(J)", "J"),
        ("the answer is therefore (D)", "D"),
        ("**The answer is (A)**", "A"),
        # The last match counts, and the first pattern before the second.
        ("The answer is (A). No: the answer is (B).", "B"),
        ("The answer is (A). Answer: B", "A"),
        ("Answer: A\nanswer: (d)", "D"),
        ("Answer: C", "C"),
        # Beyond the options, or in another form.
        ("The answer is (K).", None),
        ("The answer is 4.", None),
        ("The answer is $B$.", None),
        ("The Answer is (B)", None),
        ("The best, I think, answer is (B)", None),
        ("Answer:B", None),
        ("I am ready for the question.", None),
        ("", None),
        # Letters of words are read, as by the post's patterns.
        ("The answer is unclear.", "A"),
        ("the answer is why the answer is not", "I"),
    ],
)
def test_the_rules(response, letter):
    assert extract_choice(response) == letter


PIECES = (
    "The ", "the ", "answer is", "answer", "Answer:", "answer:", " ", "\n", ":", "(", ")", "A", "b",
    "J", "j", "K", "T", "t", "h", "e", "xz", " is",
)  # fmt: skip


def test_the_letters_are_those_of_the_posts_patterns(shared):
    (post,) = (shared / "seeds").glob("003*.txt")
    found = re.findall(r'ANSWER_RE_\d = re\.compile\(r"(.+)"\)', post.read_text(encoding="utf-8"))
    first, second = map(re.compile, found)
    rng = random.Random(2606)
    seen = set()
    for _ in range(50_000):
        response = "".join(rng.choices(PIECES, k=rng.randint(1, 14)))
        letters = first.findall(response) or second.findall(response)
        expected = letters[-1].upper() if letters else None
        assert extract_choice(response) == expected, response
        seen.add(expected)
    assert seen == {None, *"ABEHIJ"}


@pytest.mark.parametrize(
    "part", ["the ", "the answer is ", "the answer is", "answer is", "answer: ", "The", " ", "\n:("]
)
@pytest.mark.parametrize("start", ["", "The answer is", "answer:"])
def test_long_responses_are_read_in_no_time(start, part):
    # A second and a half is twenty times what a million characters take; the post's patterns
    # take time with their square, which is hours.
    response = start + part * (1_000_000 // len(part))
    before = time.process_time()
    extract_choice(response)
    assert time.process_time() - before < 1.5
