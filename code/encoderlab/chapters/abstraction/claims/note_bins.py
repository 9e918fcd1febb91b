"""Claims 59 and 68: whether the layers of the published model fall into the note's bins."""

from __future__ import annotations

from encoderlab.chapters.abstraction.measurements import (
    apart_centred,
    gap_by_length,
    pair_over_key,
    probe_accuracy,
    probe_runs,
    read_halfway,
)
from encoderlab.claims.claim import Finding, Findings, claim


@claim(
    59,
    note=2,
    section="advantages",
    says="Features form a hierarchy: local patterns, then phrases, then global meaning.",
    verdict="confirmed",
    holds=(
        "The layer from which a fact is read best does go up: previous word, next word, phrase and role, "
        "and likeness of sentences at the top; and from layer 2 on attention widens in the same order, in "
        "texts of forty words and more. That is an order of peaks, as others found in BERT, and not three "
        "bins: each fact rises and falls over several layers, most of them are half read or better after "
        "layer 4, and layer 1 reaches farther than layers 2 to 4."
    ),
    references=("tenney2019pipeline", "jawahar2019structure"),
)
def claim_59() -> Findings:
    """Ask where each kind of fact is read best, and whether the reach of attention keeps step."""
    peaks = [
        int(probe_accuracy(task).argmax()) for task in ("previous token", "next token", "phrase", "role")
    ]
    margin = apart_centred().margin.mean(axis=-1)
    steps = [gap_by_length("reach to others", layer + 1, layer)[0][2:] for layer in range(2, 6)]
    return (
        Finding("for", "previous token read best after layer", peaks[0], "=", 1),
        Finding("for", "next token read best after layer", peaks[1], "=", 2),
        Finding("for", "phrase read best after layer", peaks[2], "=", 3),
        Finding("for", "role of a noun read best after layer", peaks[3], "=", 3),
        Finding("for", "paraphrases stand out most after layer", int(margin.argmax()), "=", 6),
        Finding(
            "for",
            "four steps of reach from layer 2 up, from forty words on: least rise (start of interval)",
            float(min(step.min() for step in steps)),
            "≥",
            0.02,
        ),
        Finding("footnote", "tasks read halfway or better after layer 4", read_halfway(4), "≥", 6),
        Finding(
            "footnote",
            "layer 1 reaches farther than layer 2, least of five lengths (start of interval)",
            float(gap_by_length("reach to others", 1, 2)[0].min()),
            "≥",
            0.1,
        ),
    )


@claim(
    68,
    note=2,
    section="worked example and middle layers",
    says="Layer 1 relates the words of a phrase, “on” and “the mat”; layer 3 composes phrases.",
    verdict="depends",
    holds=(
        "Relation first and composition later is no contradiction, but where the line runs is not said. "
        "Measured, what a probe reads of phrases does grow from the embedding to layer 1 and on to layer "
        "3. In layer 1 “on” gives “mat” no more than other words do; what it gives more is in layer 3."
    ),
)
def claim_68() -> Findings:
    """Hold the example, relations in layer 1 and phrases in layer 3, against both kinds of evidence."""
    phrase, on_mat = probe_runs("phrase"), pair_over_key("on", "mat")
    return (
        Finding(
            "for",
            "phrase: accuracy after layer 3 over that after layer 1, least of all seeds",
            float((phrase[:, 3] - phrase[:, 1]).min()),
            "≥",
            0.1,
        ),
        Finding(
            "for",
            "after layer 1 over the embedding, least of all seeds",
            float((phrase[:, 1] - phrase[:, 0]).min()),
            "≥",
            0.05,
        ),
        Finding(
            "against",
            "on → mat in layer 1, mean over heads, over what other words give “mat”",
            float(on_mat[0]),
            "≤",
            1.1,
        ),
        Finding("against", "layer in which that is most", int(on_mat.argmax()) + 1, "=", 3),
    )
