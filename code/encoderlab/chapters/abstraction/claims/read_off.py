"""Claims 39, 42, 44 and 67: what can be read off the layers of the published model, and without them."""

from __future__ import annotations

from encoderlab.chapters.abstraction.data import measured, results
from encoderlab.chapters.abstraction.homonyms import CONTROLS
from encoderlab.chapters.abstraction.measurements import (
    control_runs,
    growing_gap,
    probe_accuracy,
    probe_runs,
    sense_accuracy,
    untrained_accuracy,
)
from encoderlab.chapters.abstraction.probe_data import MOST_ADJECTIVES
from encoderlab.claims.claim import Finding, Findings, claim

TWO, ALL = "word and 2 on each side", "all words, averaged"
THREE = "word and 3 on each side"
SQUEEZED = "2 on each side, at random to one width"


@claim(
    39,
    note=2,
    section="middle layers",
    says="Layers 3 and 4 integrate local features and form phrases.",
    verdict="confirmed",
    holds=(
        "A linear probe reads a word's phrase best after layer 3 here, in clauses whose nouns and verbs "
        "are unseen, however long phrases may be. Where they have up to two adjectives or more it reads it "
        "better than off bare embeddings of two words on each side brought to one width. Footnote: where "
        "they have at most one, those five embeddings tell as much, and a window wide enough, its embeddings "
        "side by side, tells more: a grammar of short phrases shows only that layer 3 has gathered its "
        "surroundings. By layer 6 much of it is lost. In BERT phrase information was found in the lower "
        "layers, syntactic features in the middle."
    ),
    references=("jawahar2019structure",),
)
def claim_39() -> Findings:
    """Read off each layer, and off bare embeddings, which phrase a word belongs to, as phrases grow."""
    phrase = probe_runs("phrase")
    growing = measured("growing", "phrase")  # (6, 5, 7)
    squeezed = [growing_gap("phrase", SQUEEZED, most) for most in MOST_ADJECTIVES if most >= 2]
    return (
        Finding(
            "for",
            "seeds with which the phrase is read best after layer 3, of five",
            int((phrase.argmax(axis=1) == 3).sum()),
            "=",
            5,
        ),
        Finding(
            "for",
            "the same, of thirty with up to none to six adjectives in a phrase",
            int((growing.argmax(axis=-1) == 3).sum()),
            "≥",
            28,
        ),
        Finding(
            "for",
            "accuracy after layer 3 over layer 1, least of all seeds",
            _least(phrase, 3, 1),
            "≥",
            0.1,
        ),
        Finding(
            "for",
            "layer 3 over two words on each side at one width, up to two adjectives or more, least mean",
            float(min(gap.mean() for gap in squeezed)),
            "≥",
            0.01,
        ),
        Finding(
            "for",
            "layer 3 over two words on each side, side by side, up to six adjectives, least of all seeds",
            float(growing_gap("phrase", TWO, 6).min()),
            "≥",
            0.02,
        ),
        Finding(
            "footnote",
            "two words on each side, side by side, over layer 3, up to one adjective, least of all seeds",
            float(-growing_gap("phrase", TWO, 1).max()),
            "≥",
            0.01,
        ),
        Finding(
            "footnote",
            "three words on each side, side by side, over layer 3, up to four adjectives, mean",
            float(-growing_gap("phrase", THREE, 4).mean()),
            "≥",
            0.02,
        ),
        Finding("footnote", "accuracy lost by layer 6, least of all seeds", _least(phrase, 3, 6), "≥", 0.2),
    )


@claim(
    42,
    note=2,
    section="lower layers",
    says="The lower layers learn word-level semantics.",
    verdict="untested",
    holds=(
        "What a word means by itself is in its embedding, before any layer, and we have no measure of "
        "what the lower layers add to it. We test identity, which is less: which word a token was can be "
        "read after every layer, before the first, and in layers never trained, so it tells no layer from "
        "another."
    ),
)
def claim_42() -> Findings:
    """Read a token's identity off every layer, which does not decide the claim."""
    own = probe_accuracy("own token")
    return (
        Finding("stand-in", "own token, lowest accuracy of layers 1 and 2", float(own[1:3].min()), "≥", 0.99),
        Finding("stand-in", "own token after layer 6", float(own[6]), "≥", 0.99),
        Finding("stand-in", "in the embedding, before any layer", float(own[0]), "≥", 0.99),
        Finding(
            "stand-in",
            "in layers never trained, least of four networks",
            float(untrained_accuracy("own token").min()),
            "≥",
            0.99,
        ),
    )


@claim(
    44,
    note=2,
    section="attention, middle layers",
    says="The middle layers consider what a word means in its local context.",
    verdict="depends",
    holds=(
        "Which of its two senses a word has is told after layer 3 nearly every time, of words like “bank” in "
        "sentences not seen. But nearly as well after layer 1, and no worse after layer 6: context is there "
        "from the first layer on and stays. Nor is it the local context: two words on each side tell next "
        "to nothing, and all other words' bare embeddings, averaged, most of it."
    ),
)
def claim_44() -> Findings:
    """Tell the two senses of eight words apart, after each layer and from bare embeddings around them."""
    senses = sense_accuracy()
    bare = dict(zip(CONTROLS, results()["senses_bare"].mean(axis=0), strict=True))
    never = results()["senses_untrained"].mean(axis=0)
    return (
        Finding("for", "sense told after layer 3, of 128 sentences", float(senses[3]), "≥", 0.9),
        Finding("for", "before any layer, by the word and its place", float(senses[0]), "≤", 0.6),
        Finding("for", "after layers never trained, at best", float(never.max()), "≤", 0.65),
        Finding("against", "after layer 1", float(senses[1]), "≥", 0.8),
        Finding("against", "after layer 6", float(senses[6]), "≥", 0.9),
        Finding(
            "against", "by bare embeddings of two words on each side", float(bare[CONTROLS[0]]), "≤", 0.65
        ),
        Finding("against", "by those of all other words, averaged", float(bare[CONTROLS[1]]), "≥", 0.8),
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
