"""Claims 59 and 68: whether the layers of the published model fall into the note's bins."""

from __future__ import annotations

from encoderlab.chapters.abstraction.measurements import (
    apart_centred,
    control_runs,
    head_mean,
    least,
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
    verdict="depends",
    holds=(
        "The layer from which a fact is read best does go up: previous word, next word, phrase and role, "
        "and likeness of sentences at the top. That is an order of peaks, as others found in BERT, and "
        "not three bins: each fact rises and falls over several layers, the reach of attention does not "
        "keep step, and what peaks in the middle can be read better without any layer."
    ),
    references=("tenney2019pipeline", "jawahar2019structure"),
)
def claim_59() -> Findings:
    """Ask where each kind of fact is read best, and whether the reach of attention keeps step."""
    peaks = [
        int(probe_accuracy(task).argmax()) for task in ("previous token", "next token", "phrase", "role")
    ]
    reach, margin = head_mean("distance to others"), apart_centred().margin.mean(axis=-1)
    wide = "word and 2 on each side"
    return (
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
        Finding("against", "tasks read halfway or better after layer 4", read_halfway(4), "≥", 6),
        Finding(
            "against",
            "phrase and role by five bare embeddings, over layer 3, the lesser",
            min(float((control_runs(t, wide) - probe_runs(t)[:, 3]).mean()) for t in ("phrase", "role")),
            "≥",
            0.03,
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
        "3. In layer 1 “on” gives “mat” no more than other words do, and five bare embeddings tell more "
        "of phrases than layer 3."
    ),
)
def claim_68() -> Findings:
    """Hold the example, relations in layer 1 and phrases in layer 3, against both kinds of evidence."""
    phrase, on_mat = probe_runs("phrase"), pair_over_key("on", "mat")
    wide = control_runs("phrase", "word and 2 on each side")
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
        Finding(
            "against",
            "bare embeddings of five words over layer 3, least of all seeds",
            float((wide - phrase[:, 3]).min()),
            "≥",
            0.03,
        ),
    )
