"""Small grammars that write English sentences with labels, to probe what a hidden state tells.

What a probe is not meant to use, a grammar keeps free of the label: words are drawn alike for every label,
optional words move the positions, and a second lexicon holds nouns and verbs that training never saw.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np


def _listed(words: str) -> tuple[str, ...]:
    return tuple(words.split())


DETERMINERS = _listed("the this every one")
ADJECTIVES = _listed("old young small tall quiet famous")
MORE_ADJECTIVES = (*ADJECTIVES, *_listed("rich poor clever kind proud lonely brave honest tired happy"))
PREPOSITIONS = _listed("near behind beside with without")
ADVERBS = _listed("today again yesterday slowly")
NOUNS = _listed(
    """boy girl doctor teacher king farmer soldier student lawyer guard nurse queen priest sailor painter
    singer writer driver judge prince actor artist captain chief clerk cousin brother sister mother
    father uncle friend neighbor officer pilot player poet prisoner professor reporter scientist servant
    stranger tourist victim visitor warrior worker banker bishop builder composer dancer detective
    director editor engineer guest hunter journalist knight manager merchant minister"""
)
VERBS = _listed(
    """help follow call watch answer visit thank attack join pull remember kick love touch save hate trust
    support protect approach avoid accept address arrest ask block contact fear guide ignore insult
    invite kiss miss notice praise"""
)


class Labelled(NamedTuple):
    """A sentence, a place in it, and the label of the word there."""

    words: tuple[str, ...]
    place: int  # −1 for the [CLS] before the first word
    label: str


Adjectives = Callable[[np.random.Generator], tuple[str, ...]]
"""Draws what stands between a determiner and its noun."""


def one_or_none(rng: np.random.Generator) -> tuple[str, ...]:
    """Draw one adjective, or none, as often."""
    return _some(rng, ADJECTIVES)


def up_to(most: int) -> Adjectives:
    """Draw none to so many different adjectives, each number as often, so that phrases grow.

    Examples
    --------
    >>> {len(up_to(3)(np.random.default_rng(seed))) for seed in range(20)}
    {0, 1, 2, 3}
    """

    def draw(rng: np.random.Generator) -> tuple[str, ...]:
        return tuple(rng.permutation(MORE_ADJECTIVES)[: int(rng.integers(most + 1))].tolist())

    return draw


class Lexicon(NamedTuple):
    """The nouns and verbs that a sentence may use."""

    nouns: tuple[str, ...]
    verbs: tuple[str, ...]


def split_lexicon(rng: np.random.Generator) -> tuple[Lexicon, Lexicon]:
    """Deal nouns and verbs into two halves with no word in common, to train on and to test on."""
    nouns, verbs = rng.permutation(NOUNS).tolist(), rng.permutation(VERBS).tolist()
    n, v = len(nouns) // 2, len(verbs) // 2
    return Lexicon(tuple(nouns[:n]), tuple(verbs[:v])), Lexicon(tuple(nouns[n:]), tuple(verbs[v:]))


def past(verb: str) -> str:
    """Return the past tense, which is the participle too: all verbs here are regular."""
    return f"{verb}d" if verb.endswith("e") else f"{verb}ed"


def present(verb: str) -> str:
    """Return the third person singular of the present."""
    return f"{verb}es" if verb.endswith(("ch", "ss")) else f"{verb}s"


def clauses(
    rng: np.random.Generator, lexicon: Lexicon, count: int, adjectives: Adjectives = one_or_none
) -> list[Labelled]:
    """Write clauses, and label determiners, adjectives and nouns by the phrase of the clause they stand in.

    (preposition NP ,) NP (preposition NP) verb NP (preposition NP) (adverb), with NP = determiner (adjective)
    noun; what is in brackets is there half the time.

    Parameters
    ----------
    rng : numpy.random.Generator
    lexicon : Lexicon
    count : int
        How many clauses; each has several labelled places.
    adjectives : callable
        Such as `up_to`, for longer phrases.

    Returns
    -------
    list of Labelled
        With the label "subject", "object" or "prepositional".
    """
    labelled = []
    for _ in range(count):
        front = _prepositional(rng, lexicon, adjectives)
        pairs = [
            *((*front, (",", "")) if front else ()),
            *_noun_phrase(rng, lexicon, "subject", adjectives),
            *_prepositional(rng, lexicon, adjectives),
            (past(_pick(rng, lexicon.verbs)), ""),
            *_noun_phrase(rng, lexicon, "object", adjectives),
            *_prepositional(rng, lexicon, adjectives),
            *((word, "") for word in _some(rng, ADVERBS)),
        ]
        words = tuple(word for word, _ in pairs)
        labelled += [Labelled(words, i, label) for i, (_, label) in enumerate(pairs) if label]
    return labelled


def roles(
    rng: np.random.Generator, lexicon: Lexicon, count: int, adjectives: Adjectives = one_or_none
) -> list[Labelled]:
    """Write who does what to whom, and label both nouns "agent" or "patient".

    In four forms: active, passive and the two clefts, "it was the guest that …". In half of the sentences the
    agent comes first, so order alone does not tell. Adverb and adjectives are there half the time.
    """
    labelled = []
    for number in range(count):
        agent, patient, *_ = rng.permutation(lexicon.nouns).tolist()
        verb = past(_pick(rng, lexicon.verbs))
        a, p = (("the", *adjectives(rng), noun) for noun in (agent, patient))
        forms = (
            (*a, verb, *p),
            (*p, "was", verb, "by", *a),
            ("it", "was", *a, "that", verb, *p),
            ("it", "was", *p, "that", *a, verb),
        )
        words = (*_some(rng, ADVERBS), *forms[number % 4])
        labelled.append(Labelled(words, words.index(agent), "agent"))
        labelled.append(Labelled(words, words.index(patient), "patient"))
    return labelled


def numbers(rng: np.random.Generator, lexicon: Lexicon, count: int, agree: bool = True) -> list[Labelled]:
    """Write "the guests near the king(s) called the poet" and label the verb by the number of its subject.

    The verb is past, so it does not show the number itself. The noun between has the subject's number if
    `agree`, else the other one.
    """
    labelled = []
    for number in range(count):
        subject, between, last, *_ = rng.permutation(lexicon.nouns).tolist()
        plural = number % 2 == 1
        words = (
            *_some(rng, ADVERBS),
            *("the", *_some(rng, ADJECTIVES), _numbered(subject, plural)),
            *(_pick(rng, PREPOSITIONS), "the", *_some(rng, ADJECTIVES), _numbered(between, plural == agree)),
            *(past(_pick(rng, lexicon.verbs)), "the", last),
        )
        labelled.append(Labelled(words, len(words) - 3, "plural" if plural else "singular"))
    return labelled


def tenses(rng: np.random.Generator, lexicon: Lexicon, count: int) -> list[Labelled]:
    """Write "the guest calls the king near the poet" in both tenses, and label [CLS] by the tense."""
    labelled = []
    for number in range(count):
        first, second, third = (("the", *_some(rng, ADJECTIVES), _pick(rng, lexicon.nouns)) for _ in range(3))
        verb, is_past = _pick(rng, lexicon.verbs), number % 2 == 1
        words = (*first, past(verb) if is_past else present(verb), *second, _pick(rng, PREPOSITIONS), *third)
        labelled.append(Labelled(words, -1, "past" if is_past else "present"))
    return labelled


def places(rng: np.random.Generator, count: int) -> list[tuple[str, ...]]:
    """Write sentences of the form of "the cat sat on the mat", six words each.

    Returns
    -------
    list of tuple of str
    """
    animals, verbs = _listed("cat dog bird horse boy girl man woman"), _listed("sat stood lay slept waited")
    things = _listed("mat bed chair floor table grass roof road")
    return [
        ("the", _pick(rng, animals), _pick(rng, verbs), _pick(rng, _listed("on near under")), "the", thing)
        for thing in (_pick(rng, things) for _ in range(count))
    ]


def _noun_phrase(
    rng: np.random.Generator, lexicon: Lexicon, label: str, adjectives: Adjectives
) -> list[tuple[str, str]]:
    words = (_pick(rng, DETERMINERS), *adjectives(rng), _pick(rng, lexicon.nouns))
    return [(word, label) for word in words]


def _prepositional(
    rng: np.random.Generator, lexicon: Lexicon, adjectives: Adjectives
) -> list[tuple[str, str]]:
    preposition = _some(rng, PREPOSITIONS)
    return [(word, "") for word in preposition] + (
        _noun_phrase(rng, lexicon, "prepositional", adjectives) if preposition else []
    )


def _pick(rng: np.random.Generator, words: Sequence[str]) -> str:
    return words[int(rng.integers(len(words)))]


def _some(rng: np.random.Generator, words: Sequence[str]) -> tuple[str, ...]:
    """Return one of the words, or none, as often."""
    return (_pick(rng, words),) if rng.random() < 0.5 else ()


def _numbered(noun: str, plural: bool) -> str:
    return f"{noun}s" if plural else noun
