"""Claims 43, 66 and 71: what single heads of the published model follow: grammar, look or meaning."""

from __future__ import annotations

import numpy as np

from encoderlab.chapters.abstraction.data import measured, results
from encoderlab.chapters.abstraction.measurements import related_head, related_over_unrelated
from encoderlab.chapters.abstraction.relations import LURES, RELATIONS
from encoderlab.chapters.abstraction.sentences import mean_and_interval
from encoderlab.claims.claim import Finding, Findings, claim


@claim(
    43,
    note=2,
    section="attention, lower layers",
    says="Lower-layer attention is driven by grammar: it links subject and verb, verb and object.",
    verdict="depends",
    holds=(
        "A head of layer 2 links a subject to its determiner whether or not an adjective stands between. "
        "On verbs, their subjects and objects, no head of layers 1 and 2 does better than always looking "
        "the same number of words away. A head of layer 3 does, from the subject to its verb; but it "
        "goes there as well from a noun that merely stands between: it looks for the next verb."
    ),
    references=("clark2019look", "vig2019structure"),
)
def claim_43() -> Findings:
    """Let every head point from a verb to its subject and object, and back; judge heads on other clauses."""
    found = results()["relations"]  # (6, 2, 6, 12)
    fixed, by_class = results()["relation_rules"].T
    names = list(RELATIONS)
    verbs = [k for k, name in enumerate(names) if "verb" in name]

    def over(rule: float, k: int, layers: slice) -> float:
        chosen, judged = found[k][:, layers].reshape(2, -1)
        return float(judged[chosen.argmax()] - rule)

    low, every = slice(0, 2), slice(0, 6)
    noun, back = names.index("noun → determiner"), names.index("verb → subject")
    head = results()["lures"][:, 2, found[names.index("subject → verb"), 0, 2].argmax()]
    lures = dict(zip(LURES, head, strict=True))
    return (
        Finding(
            "for",
            "noun → determiner, best head of layers 1 and 2, over a fixed step",
            over(fixed[noun], noun, low),
            "≥",
            0.3,
        ),
        Finding(
            "against",
            "four verb relations, best heads of layers 1 and 2: most over a fixed step",
            max(over(fixed[k], k, low) for k in verbs),
            "≤",
            0.1,
        ),
        Finding(
            "against",
            "verb → subject, best head of all layers, over “the last noun”",
            over(by_class[back], back, every),
            "≤",
            0.05,
        ),
        Finding(
            "against",
            "best head of layer 3 for subject → verb: from a noun between, over from the subject",
            float(lures["noun between → verb"] - lures["subject → verb, a noun between"]),
            "≥",
            0,
        ),
    )


@claim(
    66,
    note=2,
    section="attention, lower layers",
    says="Lower-layer attention links words by their surface form.",
    verdict="depends",
    holds=(
        "Heads of layers 1 and 2 do, and one of layer 3 too, mostly between one “the” and the next. On "
        "average over heads a copy gets no more than another word as far away. With the key held, its "
        "copy gives it a little more in layer 1 than another word does, and no more above."
    ),
)
def claim_66() -> Findings:
    """Compare identical tokens with others as far apart; choose heads on one half, judge on the other."""
    same = measured("heads", "identical")[1:]  # (64, 6, 12), NaN without a copy
    held = measured("heads", "identical, same key")[1:]
    chosen, judged = np.nanmean(same[:32], axis=0), np.nanmean(same[32:], axis=0)
    best = [float(judged[layer, chosen[layer].argmax()]) for layer in range(6)]
    _, low, high = mean_and_interval(held.mean(axis=-1), np.random.default_rng(0))
    every = mean_and_interval(same.mean(axis=-1), np.random.default_rng(0))[2]
    return (
        Finding(
            "for",
            "preference for copies, 0 none and 1 nothing else: best heads of layers 1 and 2, the lesser",
            min(best[:2]),
            "≥",
            0.5,
        ),
        Finding(
            "for",
            "for the same key, mean over heads, layer 1 (start of interval)",
            float(low[0]),
            "≥",
            0.05,
        ),
        Finding("against", "the same, layer 2 (end of interval)", float(high[1]), "≤", 0.1),
        Finding("against", "best head of layer 3", best[2], "≥", 0.5),
        Finding(
            "against",
            "mean over heads, any key, most of layers 1 and 2 (end of interval)",
            float(every[:2].max()),
            "≤",
            0.1,
        ),
    )


@claim(
    71,
    note=2,
    section="attention, middle layers",
    says="Middle-layer attention goes to combinations of words that are related in meaning.",
    verdict="depends",
    holds=(
        "In layer 3 words like “doctor” and “hospital” give each other more than unrelated ones in the same "
        "sentence do, and one head many times as much. But they do so in layers 1 and 2 already, on average "
        "no less, and in layer 4 not at all: it is a matter of the lower half of the model."
    ),
)
def claim_71() -> Findings:
    """Let twenty words stand with their related word and with those of the others, in four frames."""
    ratio, low, high = related_over_unrelated()
    return (
        Finding(
            "for",
            "related over unrelated, layer 3, mean over heads (start of interval)",
            float(low[2]),
            "≥",
            1.1,
        ),
        Finding("for", "the same, best head of layer 3, judged on other pairs", related_head(3)[1], "≥", 5),
        Finding("against", "mean over heads, layer 4 (end of interval)", float(high[3]), "≤", 1),
        Finding("against", "layer 1 over layer 3", float(ratio[0] / ratio[2]), "≥", 1.02),
        Finding("against", "best head of layer 2, judged on other pairs", related_head(2)[1], "≥", 3),
    )
