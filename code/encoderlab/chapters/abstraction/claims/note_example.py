"""Claims 54 to 56: the note's own sentence in layers 1, 3 and 6, and a hundred of the same form."""

from __future__ import annotations

from encoderlab.chapters.abstraction.data import results
from encoderlab.chapters.abstraction.measurements import (
    link,
    pair_by_head,
    pair_over_key,
)
from encoderlab.claims.claim import Finding, Findings, claim


@claim(
    54,
    note=2,
    section="worked example",
    says="In layer 1, “cat” is related to “sat”, and “on” to “the mat”.",
    verdict="depends",
    holds=(
        "From “sat” to “cat”, yes: most of it is one head that gives almost all it has to the word "
        "before, whatever it is. From “cat” to “sat”, and from “on” to “mat”, layer 1 gives no more than "
        "other words give the same key. The note says what is learnt, not what is attended to: this is "
        "one model and one way to look."
    ),
)
def claim_54() -> Findings:
    """Look at the note's own pairs in layer 1, on its sentence and on a hundred of the same form."""
    back = results()["note_heads"][0, 2].diagonal(-1)  # layer 1, head 3: from each word to the one before
    return (
        Finding(
            "for",
            "sat → cat, layer 1, mean over heads, over what other words give “cat”",
            float(pair_over_key("sat", "cat")[0]),
            "≥",
            1.5,
        ),
        Finding(
            "for",
            "the same, strongest head, even attention = 1",
            float(pair_by_head("sat", "cat", 1).max()),
            "≥",
            4,
        ),
        Finding("for", "the same in the note's sentence", float(link("sat", "cat", 1).max()), "≥", 4),
        Finding("against", "that head from any word to the word before, least", float(back.min()), "≥", 4),
        Finding(
            "against",
            "cat → sat, layer 1, mean over heads, over what other words give “sat”",
            float(pair_over_key("cat", "sat")[0]),
            "≤",
            0.9,
        ),
        Finding(
            "against",
            "on → mat, layer 1, mean over heads, over what other words give “mat”",
            float(pair_over_key("on", "mat")[0]),
            "≤",
            1.1,
        ),
    )


@claim(
    55,
    note=2,
    section="worked example",
    says="Layer 3 composes “the cat” into a noun phrase and “sat on the mat” into a verb phrase.",
    verdict="depends",
    holds=(
        "In layer 3 a head gives most from “the” to “cat” and from “on”, over “the”, to “mat”. But it looks "
        "a word or two ahead from other words too, from “cat” to “sat” and from “sat” to “on”, so it is no "
        "head for the noun of a phrase. (Layer 2 links “the” to “cat” more strongly, by a head that looks "
        "at the next word, whatever it is.) From “sat” to “mat”, the verb phrase, there is no such link."
    ),
)
def claim_55() -> Findings:
    """Follow the phrases of the example through the layers."""
    on_mat = pair_over_key("on", "mat")
    return (
        Finding(
            "for",
            "the → cat, layer 3, strongest head, even attention = 1",
            float(_layer_3("the", "cat")),
            "≥",
            4,
        ),
        Finding("for", "on → mat by the same head, over “the”", float(_layer_3("on", "mat")), "≥", 4),
        Finding("for", "layer in which on → mat is most over its key", int(on_mat.argmax()) + 1, "=", 3),
        Finding(
            "against",
            "the same head from “cat” ahead to “sat”, which is no phrase of the two",
            float(_layer_3("cat", "sat")),
            "≥",
            3,
        ),
        Finding("against", "and from “sat” ahead to “on”", float(_layer_3("sat", "on")), "≥", 2),
        Finding(
            "against",
            "sat → mat, layer 3, mean over heads, over what other words give “mat”",
            float(pair_over_key("sat", "mat")[2]),
            "≤",
            1,
        ),
    )


@claim(
    56,
    note=2,
    section="worked example",
    says="In layer 6, “cat” and “mat” are linked across the distance.",
    verdict="depends",
    holds=(
        "What “cat” gives “mat” does grow to its most in layer 6. But every word looks at the last noun "
        "there, “cat” no more than the others, and so does the head in which it is strongest: a head for "
        "a noun, not a link of these two. From “mat” to “cat” there is none either."
    ),
)
def claim_56() -> Findings:
    """Look from cat to mat and back in layer 6, and at what other words give the same key."""
    head = int(pair_by_head("cat", "mat", 6).argmax())
    column = results()["note_heads"][5, head, :, 5]  # that head of layer 6, from every word to "mat"
    there = results()["note_mean"].mean(axis=0)[:, 1, 5]  # (6,)
    return (
        Finding(
            "for",
            "cat → mat, mean over heads: layer 6 over layer 1",
            float(there[5] / there[0]),
            "≥",
            1.3,
        ),
        Finding("for", "cat → mat, layer 6, strongest head, even attention = 1", float(column[1]), "≥", 2.5),
        Finding(
            "against",
            "cat → mat, layer 6, mean over heads, over what other words give “mat”",
            float(pair_over_key("cat", "mat")[5]),
            "≤",
            0.95,
        ),
        Finding(
            "against",
            "that head: from “cat” over the least from any word to “mat”",
            float(column[1] / column.min()),
            "≤",
            1.05,
        ),
        Finding(
            "against",
            "mat → cat, layer 6, mean over heads, over what other words give “cat”",
            float(pair_over_key("mat", "cat")[5]),
            "≤",
            1,
        ),
    )


def _layer_3(query: str, key: str) -> float:
    """Return the weight of a pair in the head of layer 3 that is strongest from “the” to “cat”."""
    head = int(pair_by_head("the", "cat", 3).argmax())
    return float(pair_by_head(query, key, 3)[head])
