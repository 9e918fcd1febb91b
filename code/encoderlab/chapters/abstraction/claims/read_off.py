"""Claims 39, 42, 44 and 67: what can be read off the layers of the published model, and without them."""

from __future__ import annotations

from encoderlab.chapters.abstraction.measurements import (
    control_runs,
    probe_accuracy,
    probe_runs,
    untrained_accuracy,
)
from encoderlab.claims.claim import Finding, Findings, claim

ONE, TWO, ALL = "word and 1 on each side", "word and 2 on each side", "all words, averaged"

ONE, TWO, ALL = "word and 1 on each side", "word and 2 on each side", "all words, averaged"

ONE, TWO, ALL = "word and 1 on each side", "word and 2 on each side", "all words, averaged"


@claim(
    39,
    note=2,
    section="middle layers",
    says="Layers 3 and 4 integrate local features and form phrases.",
    verdict="depends",
    holds=(
        "A linear probe reads a word's phrase best after layer 3 here, in clauses whose nouns and verbs "
        "are unseen. But it reads it better off bare embeddings of the word and two on each side: layer "
        "3 has gathered its surroundings; that it has built a phrase is not shown. In BERT phrase "
        "information was found in the lower layers, syntactic features in the middle."
    ),
    references=("jawahar2019structure",),
)
def claim_39() -> Findings:
    """Read off each layer, and off bare embeddings, which phrase a word belongs to."""
    phrase, noun = probe_runs("phrase"), probe_runs("phrase of a noun")
    return (
        Finding(
            "for",
            "layer from which the phrase is read best, with every seed",
            int((phrase.argmax(axis=1) == 3).sum()),
            "=",
            5,
        ),
        Finding(
            "for",
            "accuracy after layer 3 over layer 1, least of all seeds",
            _least(phrase, 3, 1),
            "≥",
            0.1,
        ),
        Finding(
            "against",
            "bare embeddings of two words on each side, over layer 3, least of all seeds",
            float((control_runs("phrase", TWO) - phrase[:, 3]).min()),
            "≥",
            0.03,
        ),
        Finding(
            "against",
            "the same for nouns alone, which training did not hold",
            float((control_runs("phrase of a noun", TWO) - noun[:, 3]).min()),
            "≥",
            0.05,
        ),
        Finding("against", "accuracy lost by layer 6, least of all seeds", _least(phrase, 3, 6), "≥", 0.2),
    )


@claim(
    42,
    note=2,
    section="lower layers",
    says="The lower layers learn word-level semantics.",
    verdict="depends",
    holds=(
        "We test identity, which is less than meaning. Which word a token was can be read after every "
        "layer, before the first, and in layers never trained, so it tells no layer from another. What "
        "does fade upwards is what stood next to it."
    ),
)
def claim_42() -> Findings:
    """Read a token's identity, and that of its neighbour, off every layer."""
    own, before = probe_accuracy("own token"), probe_accuracy("previous token")
    return (
        Finding("for", "own token, lowest accuracy of layers 1 and 2", float(own[1:3].min()), "≥", 0.99),
        Finding("against", "own token after layer 6", float(own[6]), "≥", 0.99),
        Finding("against", "in the embedding, before any layer", float(own[0]), "≥", 0.99),
        Finding(
            "against",
            "in layers never trained, least of four networks",
            float(untrained_accuracy("own token").min()),
            "≥",
            0.99,
        ),
        Finding("support", "previous token, after layer 1", float(before[1]), "≥", 0.85),
        Finding("support", "previous token, after layer 6", float(before[6]), "≤", 0.7),
    )


@claim(
    44,
    note=2,
    section="attention, middle layers",
    says="The middle layers understand a word in its context.",
    verdict="depends",
    holds=(
        "Whether an unseen noun acts or suffers is read best after layer 3, better than from one word on "
        "each side, and hardly after layer 1. Bare embeddings of two words on each side tell it better "
        "than any layer, and the top layers let go of it again."
    ),
)
def claim_44() -> Findings:
    """Read off who does it and to whom it is done, of nouns not seen in training."""
    role = probe_runs("role")
    return (
        Finding(
            "for",
            "layer from which the role is read best, with every seed",
            int((role.argmax(axis=1) == 3).sum()),
            "=",
            5,
        ),
        Finding(
            "for",
            "accuracy after layer 3 over layer 1, least of all seeds",
            _least(role, 3, 1),
            "≥",
            0.15,
        ),
        Finding(
            "for",
            "layer 3 over bare embeddings of one word on each side",
            float((role[:, 3] - control_runs("role", ONE)).mean()),
            "≥",
            0.03,
        ),
        Finding(
            "against",
            "bare embeddings of two words on each side, over layer 3, least of all seeds",
            float((control_runs("role", TWO) - role[:, 3]).min()),
            "≥",
            0.05,
        ),
        Finding("against", "what is lost by layer 6, least of all seeds", _least(role, 3, 6), "≥", 0.05),
    )


@claim(
    67,
    note=2,
    section="middle layers",
    says="Syntactic structure is learnt in the middle layers.",
    verdict="depends",
    holds=(
        "What can be read of it here peaks in layers 3 to 5. But the number of the subject, read off a "
        "verb that does not show it, is that of the nouns nearby: all words averaged tell it as well, "
        "and where the noun between has the other number no layer does much better than a coin. In "
        "BERT and GPT-2 others found syntax most clearly in the middle, and agreement over a distance "
        "in deeper layers."
    ),
    references=("jawahar2019structure", "tenney2019pipeline", "vig2019structure"),
)
def claim_67() -> Findings:
    """Read agreement off the verb: the number of its subject, with a noun between."""
    agree, other = probe_runs("number"), probe_runs("number, other between")
    return (
        Finding(
            "for",
            "number of the subject: accuracy after layer 4 over layer 1, least of all seeds",
            _least(agree, 4, 1),
            "≥",
            0.1,
        ),
        Finding(
            "for",
            "role of a noun read best after layer 3, of five seeds",
            int((probe_runs("role").argmax(axis=1) == 3).sum()),
            "=",
            5,
        ),
        Finding(
            "against",
            "number if the noun between has the other one: best layer",
            float(other.mean(axis=0).max()),
            "≤",
            0.65,
        ),
        Finding(
            "against",
            "number by all words' bare embeddings, averaged, over the best layer",
            float((control_runs("number", ALL) - agree.max(axis=1)).mean()),
            "≥",
            0.05,
        ),
    )


def _least(runs: object, one: int, other: int) -> float:
    """Return the least difference between two layers over seeds."""
    return float((runs[:, one] - runs[:, other]).min())  # type: ignore[index]
