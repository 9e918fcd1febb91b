"""Claims 38, 40, 41 and 65: how far attention reaches in the published model, by layer and length of text."""

from __future__ import annotations

import numpy as np

from encoderlab.chapters.abstraction.measurements import by_length, gap_by_length, hidden, least, most
from encoderlab.chapters.abstraction.prose import LENGTHS
from encoderlab.claims.claim import Finding, Findings, claim

TO_OTHERS = "reach to others"
LONG = slice(LENGTHS.index(40), None)  # texts of forty words and more
SHORT = slice(0, LENGTHS.index(40))


@claim(
    38,
    note=2,
    section="lower layers",
    says="Layers 1 and 2 capture local dependencies; attention there is on neighbouring words.",
    verdict="depends",
    holds=(
        "Layer 2 of the published model is the most local one, in texts of every length that we tried, and "
        "far more so in texts of forty words and more. Layer 1 is not local in that sense: it reaches "
        "farther than layer 3, which the note counts among the middle ones, and in those texts by far."
    ),
    references=("clark2019look",),
)
def claim_38() -> Findings:
    """Compare how far attention between words reaches, a word itself left out, at five lengths of text."""
    mean = np.array([by_length(TO_OTHERS, words).mean(axis=0) for words in LENGTHS])  # (5, 6)
    others = [gap_by_length(TO_OTHERS, layer, 2)[0].min() for layer in (1, 3, 4, 5, 6)]
    return (
        Finding(
            "for", "lengths at which layer 2 is the most local", int((mean.argmin(1) == 1).sum()), "=", 5
        ),
        Finding(
            "for",
            "reach of layer 2 below that of any other layer, least of five lengths (start of interval)",
            float(min(others)),
            "≥",
            0.08,
        ),
        Finding(
            "for",
            "reach of layer 2 in texts of forty words and more, most; even attention = 1",
            float(mean[LONG, 1].max()),
            "≤",
            0.55,
        ),
        Finding(
            "against",
            "layer 1 reaches farther than layer 3, least of five lengths (start of interval)",
            float(gap_by_length(TO_OTHERS, 1, 3)[0].min()),
            "≥",
            0.01,
        ),
        Finding(
            "against",
            "the same, in texts of forty words and more",
            float(gap_by_length(TO_OTHERS, 1, 3)[0][LONG].min()),
            "≥",
            0.15,
        ),
    )


@claim(
    40,
    note=2,
    section="upper layers",
    says="Layers 5 and 6 capture global semantics and long-range dependencies.",
    verdict="depends",
    holds=(
        "Layer 6 does: it reaches nearly as far as even attention at every length, and there the words of "
        "a sentence come to share something that words of other sentences do not have. Layer 5 reaches "
        "farther than 2 to 4 in texts of forty words and more, but no farther than layer 1, in texts of "
        "ten or twenty words less far than layer 4, and it brings the words of a sentence no closer."
    ),
    references=("tenney2019pipeline", "ethayarajh2019contextual"),
)
def claim_40() -> Findings:
    """Ask how far the top layers reach, and where the words of a sentence come to share something."""
    six = [by_length(TO_OTHERS, words).mean(axis=0)[5] for words in LENGTHS]
    shared = hidden("likeness of words, mean removed")
    below = [gap_by_length(TO_OTHERS, 5, layer)[0][LONG].min() for layer in (2, 3, 4)]
    return (
        Finding("for", "reach of layer 6, least of five lengths; even attention = 1", min(six), "≥", 0.95),
        Finding(
            "for",
            "layer 5 farther than each of 2 to 4 from forty words on, least (start of interval)",
            float(min(below)),
            "≥",
            0.02,
        ),
        Finding(
            "for",
            "likeness of a sentence's words, common vector removed: rise in layer 6, at least",
            least(shared[:, 6] - shared[:, 5]),
            "≥",
            0.2,
        ),
        Finding(
            "against",
            "layer 5 farther than layer 1, most of five lengths from forty words on (end of interval)",
            float(gap_by_length(TO_OTHERS, 5, 1)[1][LONG].max()),
            "≤",
            0.03,
        ),
        Finding(
            "against",
            "layer 4 farther than layer 5 in texts of ten and twenty words, least (start of interval)",
            float(gap_by_length(TO_OTHERS, 4, 5)[0][SHORT].min()),
            "≥",
            0.01,
        ),
        Finding(
            "against",
            "likeness of a sentence's words, common vector removed: rise in layer 5, at most",
            most(shared[:, 5] - shared[:, 4]),
            "≤",
            0.05,
        ),
    )


@claim(
    41,
    note=2,
    section="middle layers",
    says="From layer to layer attention widens, from local to middle to any distance.",
    verdict="depends",
    holds=(
        "In texts of forty words and more it does from layer 2 up, at every step. Layer 1 breaks the order: "
        "it is wider than 2, 3 and 4. In texts of ten or twenty words it also narrows from 4 to 5. In GPT-2 "
        "the deepest layers attend farthest."
    ),
    references=("vig2019structure",),
)
def claim_41() -> Findings:
    """Compare the reach of successive layers, at five lengths of text."""
    steps = np.array([gap_by_length(TO_OTHERS, layer + 1, layer) for layer in range(1, 6)])  # (5, 2, lengths)
    lowest = np.array([gap_by_length(TO_OTHERS, 1, layer)[0] for layer in (2, 3, 4)])
    return (
        Finding(
            "for",
            "from forty words on, four steps from layer 2 up: least rise (start of interval)",
            float(steps[1:, 0, LONG].min()),
            "≥",
            0.02,
        ),
        Finding(
            "for",
            "layer 6 farther than layer 2, least of five lengths (start of interval)",
            float(gap_by_length(TO_OTHERS, 6, 2)[0].min()),
            "≥",
            0.25,
        ),
        Finding(
            "against",
            "from forty words on, layer 1 farther than each of 2 to 4, least (start of interval)",
            float(lowest[:, LONG].min()),
            "≥",
            0.01,
        ),
        Finding(
            "against",
            "in texts of ten and twenty words, rise from layer 4 to 5, most (end of interval)",
            float(steps[3, 1, SHORT].max()),
            "≤",
            -0.01,
        ),
    )


@claim(
    65,
    note=2,
    section="attention, lower layers",
    says="The lower layers attend mainly to neighbouring words.",
    verdict="depends",
    holds=(
        "A neighbour gets more than a word does on average, most of all in layer 2, in layers 1 to 3 more "
        "than in 4 to 6, and in long texts many times as much. That is not mainly: both neighbours together "
        "have a third of the weight between words at most, at any length, and less the longer the text."
    ),
    references=("clark2019look",),
)
def claim_65() -> Findings:
    """Weigh the words at distance one, at five lengths of text."""
    ratio = np.array([by_length("neighbours", words).mean(axis=0) for words in LENGTHS])  # (5, 6)
    share = np.array([by_length("to neighbours", words).mean(axis=0) for words in LENGTHS])
    return (
        Finding(
            "for",
            "a neighbour's weight over the mean weight of a word: least of layers 1 to 3 and five lengths",
            float(ratio[:, :3].min()),
            "≥",
            1.7,
        ),
        Finding(
            "for",
            "least of layers 1 to 3 over most of layers 4 to 6, least of five lengths",
            float((ratio[:, :3].min(axis=1) / ratio[:, 3:].max(axis=1)).min()),
            "≥",
            1.2,
        ),
        Finding("for", "the weight in layer 2 at 160 words", float(ratio[-1, 1]), "≥", 15),
        Finding(
            "against", "both neighbours together, most of layers and lengths", float(share.max()), "≤", 0.35
        ),
        Finding(
            "against",
            "the same in layer 1 at 160 words",
            float(share[-1, 0]),
            "≤",
            0.15,
        ),
    )
