"""Claims 45, 60, 69 and 70: how the layers of the published model tell sentences apart."""

from __future__ import annotations

from encoderlab.abstraction_results import HIDDEN_MEASURES, results
from encoderlab.claims.layer_measurements import least, mean, probe_accuracy, untrained_accuracy
from encoderlab.claims.model import Claim, Evidence, Finding
from encoderlab.probes import TASKS
from encoderlab.sentences import separation


def check_45() -> Evidence:
    """Measure how sentences come apart at the top, and whether meaning then beats wording."""
    apart = separation(results()["cosines"])
    tokens = results()["hidden"][0, 1:]
    return Evidence(
        (
            Finding(
                "for",
                "likeness of a sentence's tokens: rise in layer 6, at least",
                least(tokens[:, 6] - tokens[:, 5]),
                "≥",
                0.08,
            ),
            Finding(
                "for",
                "likeness of unrelated sentences: fall in layer 6, at least",
                least(apart.others[5] - apart.others[6]),
                "≥",
                0.4,
            ),
            Finding(
                "for",
                "how far a paraphrase stands out: rise in layer 6, at least",
                least(apart.margin[6] - apart.margin[5]),
                "≥",
                3,
            ),
            Finding(
                "against",
                "share of look-alikes that a paraphrase beats after layer 6",
                mean(apart.beats_look_alikes[6]),
                "≤",
                0.7,
            ),
        )
    )


def check_60() -> Evidence:
    """Compare each token with itself a layer earlier, and each layer's sentence vectors."""
    step = results()["hidden"][HIDDEN_MEASURES.index("step similarity"), 1:, 1:]  # (64, 6)
    margin = separation(results()["cosines"]).margin  # (7, 64)
    early = step[:, :5].mean(axis=0)
    return Evidence(
        (
            Finding(
                "for",
                "least similarity of a token to itself a layer earlier, layers 1 to 5",
                float(early.min()),
                "≥",
                0.8,
            ),
            Finding(
                "for",
                "difference between those five steps, at most",
                float(early.max() - early.min()),
                "≤",
                0.06,
            ),
            Finding("against", "the same similarity in layer 6", mean(step[:, 5]), "≤", 0.65),
            Finding(
                "against",
                "how far a paraphrase stands out: rise over layers 1 to 5",
                mean(margin[5] - margin[0]),
                "≤",
                1,
            ),
            Finding("against", "rise in layer 6, at least", least(margin[6] - margin[5]), "≥", 3),
        )
    )


def check_69() -> Evidence:
    """Count the tasks that the top layer is best for."""
    best = {task: int(probe_accuracy(task).argmax()) for task in TASKS}
    apart = separation(results()["cosines"])
    words = [task for task in TASKS if task != "own token"]  # which every layer tells without an error
    return Evidence(
        (
            Finding(
                "for",
                "paraphrases stand out most after layer",
                int(apart.margin.mean(axis=-1).argmax()),
                "=",
                6,
            ),
            Finding(
                "for",
                "paraphrase nearer than any sentence of another block, after layer 6",
                mean(apart.found[6]),
                "≥",
                0.98,
            ),
            Finding(
                "against",
                f"of {len(words)} probes of a token, those that layer 6 is best for",
                sum(best[task] == 6 for task in words),
                "=",
                0,
            ),
            Finding(
                "against",
                "least that layer 6 loses against the best layer on phrase, role and tense",
                min(
                    float(probe_accuracy(task).max() - probe_accuracy(task)[6])
                    for task in ("phrase", "role", "tense")
                ),
                "≥",
                0.1,
            ),
        )
    )


def check_70() -> Evidence:
    """Compare with the embedding alone, with a stack that was never trained, and with every depth."""
    margin = separation(results()["cosines"]).margin  # (7, 64)
    fresh = results()["untrained_separation"][:, 1].mean(axis=0)  # (7, 64)
    return Evidence(
        (
            Finding(
                "for",
                "paraphrase, six trained layers over the embedding, at least",
                least(margin[6] - margin[0]),
                "≥",
                3,
            ),
            Finding(
                "for",
                "six trained layers over six untrained ones, at least",
                least(margin[6] - fresh[6]),
                "≥",
                3,
            ),
            Finding(
                "for",
                "role of a noun: best trained layer over best untrained one",
                float(probe_accuracy("role").max()) - untrained_accuracy("role"),
                "≥",
                0.15,
            ),
            Finding(
                "against",
                "paraphrase, six untrained layers over the embedding",
                mean(fresh[6] - margin[0]),
                "≤",
                -0.5,
            ),
            Finding(
                "against",
                "best of trained layers 1 to 4 over the embedding",
                float((margin[1:5].mean(axis=-1) - margin[0].mean()).max()),
                "≤",
                0.2,
            ),
        )
    )


CLAIMS = (
    Claim(
        number=45,
        note=2,
        section="attention, upper layers",
        says="The upper layers integrate the meaning of the whole sentence.",
        verdict="depends",
        holds=(
            "In layer 6 the tokens of a sentence become more alike, unrelated sentences less so, and a "
            "paraphrase stands out twice as far. It still loses about as often as not to a sentence that has "
            "the same words and another meaning. That training for sentence similarity is the cause is "
            "likely, and not shown here."
        ),
        chapter="abstraction",
        check=check_45,
        references=("reimers2019sentence",),
    ),
    Claim(
        number=60,
        note=2,
        section="conclusion",
        says="Layer by layer the encoder abstracts gradually, from shallow to deep.",
        verdict="depends",
        holds=(
            "Layers 1 to 5 change a token by about as much each. Layer 6 changes it several times as much, "
            "and it is there that sentences come apart: the way up ends in a jump."
        ),
        chapter="abstraction",
        check=check_60,
    ),
    Claim(
        number=69,
        note=2,
        section="conclusion",
        says="The final representation gives downstream tasks the richest features.",
        verdict="depends",
        holds=(
            "It does for the task that this model was trained for, telling sentences apart. Of what we read "
            "off single tokens, layer 6 is best for nothing: the facts about words are in the layers below. "
            "Middle layers often transfer best in other models too."
        ),
        chapter="abstraction",
        check=check_69,
        references=("liu2019linguistic",),
    ),
    Claim(
        number=70,
        note=2,
        section="conclusion",
        says="Stacking layers gives strong representations of sequences.",
        verdict="depends",
        holds=(
            "Trained layers do: a paraphrase stands out twice as far as in the embedding, and roles can be "
            "read. Stacking alone does not: six untrained layers make it worse, and the first four trained "
            "ones no better."
        ),
        chapter="abstraction",
        check=check_70,
    ),
)
