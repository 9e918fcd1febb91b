"""Claims 39, 42, 44, 59, 67 and 68: what can be read off the layers of the published model."""

from __future__ import annotations

from encoderlab.abstraction_results import results
from encoderlab.claims.layer_measurements import (
    control_accuracy,
    head_mean,
    least,
    probe_accuracy,
    read_halfway,
)
from encoderlab.claims.model import Claim, Evidence, Finding
from encoderlab.sentences import separation


def check_39() -> Evidence:
    """Read off each layer which phrase a word belongs to, of nouns and verbs not seen in training."""
    phrase = probe_accuracy("phrase")
    gain = (phrase[2] - phrase[0]) / (phrase[3] - phrase[0])
    return Evidence(
        (
            Finding("for", "layer from which the phrase is read best", int(phrase.argmax()), "=", 3),
            Finding("for", "accuracy there", float(phrase[3]), "≥", 0.85),
            Finding(
                "for",
                "accuracy there over word and neighbours alone",
                float(phrase[3]) - control_accuracy("phrase", 2),
                "≥",
                0.1,
            ),
            Finding("against", "share of the rise that is there after layer 2", float(gain), "≥", 0.75),
            Finding("against", "accuracy lost by layer 6", float(phrase[3] - phrase[6]), "≥", 0.2),
        )
    )


def check_42() -> Evidence:
    """Read a token's identity, and that of its neighbour, off every layer."""
    own, before = probe_accuracy("own token"), probe_accuracy("previous token")
    return Evidence(
        (
            Finding("for", "own token, lowest accuracy of layers 1 and 2", float(own[1:3].min()), "≥", 0.99),
            Finding("against", "own token after layer 6", float(own[6]), "≥", 0.99),
            Finding("against", "in the embedding, before any layer", float(own[0]), "≥", 0.99),
            Finding("support", "previous token, after layer 1", float(before[1]), "≥", 0.85),
            Finding("support", "previous token, after layer 6", float(before[6]), "≤", 0.7),
        )
    )


def check_44() -> Evidence:
    """Read off who does it and to whom it is done, of nouns not seen in training."""
    role = probe_accuracy("role")
    return Evidence(
        (
            Finding("for", "layer from which the role is read best", int(role.argmax()), "=", 3),
            Finding("for", "accuracy there", float(role[3]), "≥", 0.78),
            Finding("for", "accuracy after layer 1", float(role[1]), "≤", 0.62),
            Finding(
                "against",
                "by word and both neighbours alone, without a model",
                control_accuracy("role", 2),
                "≥",
                0.7,
            ),
            Finding("against", "what is lost by layer 6", float(role[3] - role[6]), "≥", 0.1),
        )
    )


def check_59() -> Evidence:
    """Ask where each kind of fact is read best, and whether the reach of attention keeps step."""
    peaks = [
        int(probe_accuracy(task).argmax()) for task in ("previous token", "next token", "phrase", "role")
    ]
    reach = head_mean("distance")
    margin = separation(results()["cosines"]).margin.mean(axis=-1)
    return Evidence(
        (
            Finding("for", "previous token read best after layer", peaks[0], "=", 1),
            Finding("for", "next token read best after layer", peaks[1], "=", 2),
            Finding("for", "phrase read best after layer", peaks[2], "=", 3),
            Finding("for", "role of a noun read best after layer", peaks[3], "=", 3),
            Finding("for", "paraphrases stand out most after layer", int(margin.argmax()), "=", 6),
            Finding(
                "against",
                "layer 4 reaches farther than layer 5 by at least",
                least(reach[:, 3] - reach[:, 4]),
                "≥",
                0.02,
            ),
            Finding("against", "facts of nine read halfway or better after layer 4", read_halfway(4), "≥", 6),
        )
    )


def check_67() -> Evidence:
    """Read agreement off the verb: the number of its subject, with a noun between."""
    agree, other, role = (probe_accuracy(task) for task in ("number", "number, other between", "role"))
    return Evidence(
        (
            Finding("for", "layer from which the subject's number is read best", int(agree.argmax()), "=", 4),
            Finding("for", "layer from which a noun's role is read best", int(role.argmax()), "=", 3),
            Finding(
                "against",
                "number if the noun between has the other one: best layer",
                float(other.max()),
                "≤",
                0.62,
            ),
            Finding(
                "against", "what the noun between costs in layer 4", float(agree[4] - other[4]), "≥", 0.1
            ),
        )
    )


def check_68() -> Evidence:
    """Hold the note's example, phrases in layer 1, against its text, phrases in layers 3 and 4."""
    phrase = probe_accuracy("phrase")
    return Evidence(
        (
            Finding(
                "counterexample",
                "phrase: accuracy after layer 3 over that after layer 1",
                float(phrase[3] - phrase[1]),
                "≥",
                0.1,
            ),
            Finding(
                "counterexample",
                "after layer 1, over word and neighbours alone",
                float(phrase[1]) - control_accuracy("phrase", 2),
                "≤",
                0.06,
            ),
            Finding(
                "support",
                "after layer 1, over position alone",
                float(phrase[1]) - control_accuracy("phrase", 0),
                "≥",
                0.1,
            ),
        )
    )


CLAIMS = (
    Claim(
        number=39,
        note=2,
        section="middle layers",
        says="Layers 3 and 4 integrate local features and form phrases.",
        verdict="depends",
        holds=(
            "A linear probe reads the phrase of an unseen word best after layer 3 here, as the note has it. "
            "Most of the rise is there after layer 2, and by layer 6 the phrase can hardly be read. In "
            "BERT-base, phrases were found in the lower layers."
        ),
        chapter="abstraction",
        check=check_39,
        references=("jawahar2019structure",),
    ),
    Claim(
        number=42,
        note=2,
        section="lower layers",
        says="The lower layers learn word-level semantics.",
        verdict="depends",
        holds=(
            "Which word a token was can be read after every layer, the top one too, and before the first. "
            "What does fade upwards is what stood next to it."
        ),
        chapter="abstraction",
        check=check_42,
    ),
    Claim(
        number=44,
        note=2,
        section="attention, middle layers",
        says="The middle layers understand a word in its context.",
        verdict="depends",
        holds=(
            "Whether an unseen noun acts or suffers is read best after layer 3, and hardly after layer 1. "
            "But the word before and the word after tell most of it without any model, and the top layers "
            "let go of it again."
        ),
        chapter="abstraction",
        check=check_44,
    ),
    Claim(
        number=59,
        note=2,
        section="advantages",
        says="Features form a hierarchy: local patterns, then phrases, then global meaning.",
        verdict="depends",
        holds=(
            "The layer from which a fact is read best does go up: previous word, next word, phrase and role, "
            "and the sentence at the top. But each fact rises and falls over several layers, all at once, "
            "and the reach of attention does not keep step: there are no three bins."
        ),
        chapter="abstraction",
        check=check_59,
        references=("tenney2019pipeline", "jawahar2019structure"),
    ),
    Claim(
        number=67,
        note=2,
        section="middle layers",
        says="Syntactic structure is learnt in the middle layers.",
        verdict="depends",
        holds=(
            "The number of the subject is read off a verb that does not show it best after layer 4, the role "
            "of a noun after layer 3. But if the noun between has the other number the probe hardly does "
            "better than a coin, in any layer: what it read was the nouns nearby."
        ),
        chapter="abstraction",
        check=check_67,
        references=("jawahar2019structure", "tenney2019pipeline"),
    ),
    Claim(
        number=68,
        note=2,
        section="worked example and middle layers",
        says="Phrases are built in layer 1, says the example; in layers 3 and 4, says the text.",
        verdict="false",
        holds=(
            "Both cannot be. After layer 1 a probe tells phrases little better than the word and its two "
            "neighbours do without a model; after layer 3 much better. If one is meant, it is the text."
        ),
        chapter="abstraction",
        check=check_68,
    ),
)
