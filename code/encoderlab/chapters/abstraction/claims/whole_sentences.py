"""Claims 45, 60, 69 and 70: how the layers of the published model tell sentences apart."""

from __future__ import annotations

from encoderlab.chapters.abstraction.data import measured
from encoderlab.chapters.abstraction.measurements import (
    apart,
    apart_centred,
    control_runs,
    hidden,
    least,
    mean,
    most,
    own_words_by_overlap,
    paraphrase_nearer,
    probe_accuracy,
    probe_runs,
    untrained_accuracy,
)
from encoderlab.chapters.abstraction.probe_tasks import TASKS
from encoderlab.claims.claim import Finding, Findings, claim


@claim(
    45,
    note=2,
    section="attention, upper layers",
    says="The upper layers integrate the meaning of the whole sentence.",
    verdict="depends",
    holds=(
        "In layer 6 the words of a sentence come to share something of their own, and a paraphrase "
        "stands out far more. Against a sentence in one's own words with another meaning it depends on how "
        "many they share: where it is few the paraphrase is nearer more often than not, where it is many "
        "seldom, and where one exchanges who does it and to whom it is done, never. That training for "
        "sentence similarity is the cause is likely, and not shown here."
    ),
    references=("reimers2019sentence", "ethayarajh2019contextual"),
)
def claim_45() -> Findings:
    """Measure how sentences come apart at the top, and whether meaning then beats wording."""
    words, margin = hidden("likeness of words, mean removed"), apart_centred().margin
    few, _, many = own_words_by_overlap()[:, 6]
    nearer = paraphrase_nearer()
    return (
        Finding(
            "for",
            "likeness of a sentence's words, common vector removed: rise in layer 6, at least",
            least(words[:, 6] - words[:, 5]),
            "≥",
            0.2,
        ),
        Finding(
            "for",
            "how far a paraphrase stands out, common vector removed: rise in layer 6, at least",
            least(margin[6] - margin[5]),
            "≥",
            2,
        ),
        Finding(
            "for",
            "paraphrase nearer than the sentence in one's own words, the third that shares fewest",
            float(few),
            "≥",
            0.55,
        ),
        Finding("against", "the same, the third that shares most", float(many), "≤", 0.25),
        Finding(
            "against",
            "paraphrase nearer than a change of a word or two, of 64 after layer 6",
            int(sum(counts[6] for counts in nearer.values())),
            "≤",
            16,
        ),
        Finding(
            "against",
            "of those, where two people exchange their roles, of 16, most of all layers",
            int(nearer["roles exchanged"].max()),
            "=",
            0,
        ),
    )


@claim(
    60,
    note=2,
    section="conclusion",
    says="Layer by layer the encoder abstracts gradually, from shallow to deep.",
    verdict="depends",
    holds=(
        "By the questions that ask about meaning, whether the paraphrase is nearer than any other "
        "sentence or than one in the same words, most of the gain comes gradually in layers 1 to 5. How "
        "far it stands out hardly changes there, and jumps in layer 6, which also changes each word most."
    ),
)
def claim_60() -> Findings:
    """Compare each word with itself a layer earlier, and each layer's sentence vectors."""
    step = hidden("step, mean removed")[:, 1:].mean(axis=0)  # (6,)
    found, own = apart().found, apart().beats_own_words
    margin = apart_centred().margin
    return (
        Finding(
            "for",
            "paraphrase nearer than any sentence of another block: rise over layers 1 to 5, at least",
            least(found[5] - found[0]),
            "≥",
            0.02,
        ),
        Finding(
            "for",
            "nearer than the sentence in one's own words: rise over layers 1 to 5, at least",
            least(own[5] - own[0]),
            "≥",
            0.04,
        ),
        Finding(
            "against",
            "a word's likeness to itself a layer earlier, common vector removed: least of layers 1 to 5",
            float(step[:5].min()),
            "≥",
            0.8,
        ),
        Finding("against", "the same in layer 6", float(step[5]), "≤", 0.7),
        Finding(
            "against",
            "how far a paraphrase stands out, common vector removed: rise over layers 1 to 5, at most",
            most(margin[5] - margin[0]),
            "≤",
            1.5,
        ),
        Finding("against", "rise in layer 6, at least", least(margin[6] - margin[5]), "≥", 2),
    )


@claim(
    69,
    note=2,
    section="conclusion",
    says="The final representation gives downstream tasks rich features.",
    verdict="confirmed",
    holds=(
        "It does: paraphrases stand out most there, and every fact about a token that we look for can "
        "still be read better than by the commonest label. Footnote: rich is not richest. Of what we "
        "read off single tokens, layer 6 is best for nothing, and in other models too middle layers "
        "often transfer best."
    ),
    references=("liu2019linguistic",),
)
def claim_69() -> Findings:
    """Count the tasks that the top layer is best for."""
    best = {task: int(probe_accuracy(task).argmax()) for task in TASKS}
    lies = apart()
    words = [task for task in TASKS if task not in ("own token", "arbitrary label")]  # no error in any layer
    facts = [task for task in words if task != "number, other between"]
    above = [probe_accuracy(task)[6] - control_runs(task, "commonest label").mean() for task in facts]
    lost = [
        float((probe_runs(task)[:, best[task]] - probe_runs(task)[:, 6]).min())
        for task in ("phrase", "role", "tense")
    ]
    return (
        Finding(
            "for",
            "paraphrases stand out most after layer",
            int(apart_centred().margin.mean(axis=-1).argmax()),
            "=",
            6,
        ),
        Finding(
            "for",
            "paraphrase nearer than any sentence of another block, after layer 6",
            mean(lies.found[6]),
            "≥",
            0.98,
        ),
        Finding(
            "for",
            f"{len(facts)} facts about a token, read over the commonest label after layer 6, least",
            float(min(above)),
            "≥",
            0.05,
        ),
        Finding(
            "footnote",
            f"of {len(words)} probes of a token, those that layer 6 is best for",
            sum(best[task] == 6 for task in words),
            "=",
            0,
        ),
        Finding(
            "footnote",
            "least that layer 6 loses against the best layer on phrase, role and tense, over seeds",
            min(lost),
            "≥",
            0.05,
        ),
    )


@claim(
    70,
    note=2,
    section="conclusion",
    says="Stacking layers gives strong representations of sequences.",
    verdict="confirmed",
    holds=(
        "Trained layers do: a paraphrase stands out far more than in the embedding. Footnote: stacking "
        "alone does not, and six untrained layers make it worse."
    ),
)
def claim_70() -> Findings:
    """Compare with the embedding alone, with stacks that were never trained, and with every depth."""
    margin = apart_centred().margin  # (7, 64)
    fresh = measured("untrained_separation", "common vector removed", "margin").mean(axis=0)  # (7, 64)
    role = probe_runs("role")
    return (
        Finding(
            "for",
            "paraphrase, six trained layers over the embedding, at least",
            least(margin[6] - margin[0]),
            "≥",
            2,
        ),
        Finding(
            "for",
            "six trained layers over six untrained ones, at least",
            least(margin[6] - fresh[6]),
            "≥",
            2,
        ),
        Finding(
            "for",
            "role of a noun: best trained layer over the best of four untrained networks",
            float(role.mean(axis=0).max() - untrained_accuracy("role").max()),
            "≥",
            0.1,
        ),
        Finding(
            "footnote",
            "paraphrase, six untrained layers over the embedding (end of interval)",
            most(fresh[6] - margin[0]),
            "≤",
            0,
        ),
    )
