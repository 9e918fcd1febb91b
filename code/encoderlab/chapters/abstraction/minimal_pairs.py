"""Sentences with a paraphrase that shares few words and a contradiction that shares nearly all of them.

Which of the two a sentence lies nearer to says whether meaning or wording weighs more, once what differs is
made as small as it can be.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

import numpy as np

PEOPLE = (
    ("doctor", "physician"),
    ("boy", "lad"),
    ("teacher", "instructor"),
    ("lawyer", "attorney"),
    ("policeman", "officer"),
    ("child", "kid"),
    ("author", "writer"),
    ("boss", "employer"),
    ("woman", "lady"),
    ("stranger", "unknown man"),
    ("merchant", "trader"),
    ("thief", "robber"),
)
VERBS = (
    ("called", "phoned", "ignored"),
    ("helped", "assisted", "hindered"),
    ("praised", "commended", "criticized"),
    ("trusted", "believed", "doubted"),
    ("invited", "asked over", "expelled"),
    ("thanked", "expressed gratitude to", "insulted"),
    ("rescued", "saved", "abandoned"),
    ("hired", "employed", "dismissed"),
)
WHEN = (
    ("in the evening", "at the end of the day"),
    ("last winter", "during the cold months"),
    ("before noon", "in the late morning"),
    ("at the station", "where the trains stop"),
)
CHANGES = ("roles exchanged", "denied", "opposite verb", "another person")


class MinimalPair(NamedTuple):
    """A sentence, one that says the same, and one that does not and differs in a word or two."""

    sentence: str
    paraphrase: str
    contradiction: str
    change: str


def minimal_pairs(rng: np.random.Generator, count: int = 64) -> list[MinimalPair]:
    """Draw sentences "the A did to the B, some time", with every one of `CHANGES` as often.

    Returns
    -------
    list of MinimalPair
    """
    pairs = []
    for number in range(count):
        (a, a_too), (b, b_too), (c, _) = (PEOPLE[k] for k in rng.permutation(len(PEOPLE))[:3])
        verb, verb_too, opposite = VERBS[int(rng.integers(len(VERBS)))]
        when, when_too = WHEN[int(rng.integers(len(WHEN)))]
        change = CHANGES[number % len(CHANGES)]
        contradiction = {
            "roles exchanged": f"The {b} {verb} the {a} {when}.",
            "denied": f"The {a} never {verb} the {b} {when}.",
            "opposite verb": f"The {a} {opposite} the {b} {when}.",
            "another person": f"The {a} {verb} the {c} {when}.",
        }[change]
        paraphrase = f"{when_too.capitalize()}, the {a_too} {verb_too} the {b_too}."
        pairs.append(MinimalPair(f"The {a} {verb} the {b} {when}.", paraphrase, contradiction, change))
    return pairs


def overlap(one: str, other: str) -> float:
    """Return the share of words that two texts have in common (Dice): 0 for none, 1 for the same words.

    Examples
    --------
    >>> overlap("The cat sat.", "the cat ran"), overlap("a b", "b a")
    (0.6666666666666666, 1.0)
    """
    a, b = (Counter(re.findall(r"\w+", text.lower())) for text in (one, other))
    return 2 * (a & b).total() / (a.total() + b.total())
