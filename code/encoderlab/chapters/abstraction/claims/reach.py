"""Claims 38, 40, 41 and 65: how far attention reaches in the layers of the published model."""

from __future__ import annotations

from encoderlab.chapters.abstraction.measurements import (
    beyond_neighbours,
    head_mean,
    hidden,
    least,
    mean,
    most,
)
from encoderlab.claims.claim import Finding, Findings, claim


@claim(
    38,
    note=2,
    section="lower layers",
    says="Layers 1 and 2 capture local dependencies; attention there is on neighbouring words.",
    verdict="depends",
    holds=(
        "Layer 2 of the published model is the most local one: it gives words beyond the neighbours "
        "three tenths less than even attention would. Layer 1 reaches as far as layer 3, which the note "
        "counts among the middle ones."
    ),
    references=("clark2019look",),
)
def claim_38() -> Findings:
    """Compare how far attention between words reaches, layer by layer, with and without the word itself."""
    reach, others = head_mean("distance"), head_mean("distance to others")
    return (
        Finding("for", "reach of layer 2, even attention = 1", mean(reach[:, 1]), "≤", 0.75),
        Finding(
            "for",
            "by how much layer 6 reaches farther, at least",
            least(reach[:, 5] - reach[:, 1]),
            "≥",
            0.2,
        ),
        Finding(
            "for",
            "layer 2: weight beyond the neighbours over that of even attention",
            mean(beyond_neighbours()[:, 1]),
            "≤",
            0.75,
        ),
        Finding(
            "against",
            "a word itself left out, layer 1 reaches as far as layer 3: difference at least",
            least(others[:, 0] - others[:, 2]),
            "≥",
            0,
        ),
        Finding(
            "against",
            "layer 1: weight beyond the neighbours over that of even attention",
            mean(beyond_neighbours()[:, 0]),
            "≥",
            0.8,
        ),
    )


@claim(
    40,
    note=2,
    section="upper layers",
    says="Layers 5 and 6 capture global semantics and long-range dependencies.",
    verdict="depends",
    holds=(
        "Layer 6 reaches about as far as even attention, and there the words of a sentence come to share "
        "something that words of other sentences do not have. Layer 4 reaches as far, and layer 5 does "
        "neither."
    ),
    references=("tenney2019pipeline", "ethayarajh2019contextual"),
)
def claim_40() -> Findings:
    """Ask how far the top layers reach, and where the words of a sentence come to share something."""
    reach, shared = head_mean("distance to others"), hidden("likeness of words, mean removed")
    return (
        Finding("for", "reach of layer 6, itself left out, even attention = 1", mean(reach[:, 5]), "≥", 0.9),
        Finding(
            "for",
            "likeness of a sentence's words, common vector removed: rise in layer 6, at least",
            least(shared[:, 6] - shared[:, 5]),
            "≥",
            0.2,
        ),
        Finding(
            "against",
            "layer 4 reaches farther than layer 5 by at least",
            least(reach[:, 3] - reach[:, 4]),
            "≥",
            0.02,
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
        "On the whole it does here, but between words not step by step: it narrows from layer 1 to 2 and "
        "from 4 to 5. With the markers counted it widens at nearly every step, because more and more "
        "goes to [CLS] at the edge. In GPT-2 the deepest layers attend farthest."
    ),
    references=("vig2019structure",),
)
def claim_41() -> Findings:
    """Compare the reach of successive layers."""
    reach, others = head_mean("distance"), head_mean("distance to others")
    markers = head_mean("distance with markers")
    low, high = reach[:, :3].mean(axis=1), reach[:, 3:].mean(axis=1)
    return (
        Finding("for", "layers 4 to 6 reach farther than 1 to 3 by at least", least(high - low), "≥", 0.1),
        Finding(
            "for",
            "markers counted, of five steps those that reach farther",
            sum(least(markers[:, k + 1] - markers[:, k]) > 0 for k in range(5)),
            "≥",
            4,
        ),
        Finding(
            "against",
            "between words, layer 1 reaches farther than layer 2 by at least",
            least(reach[:, 0] - reach[:, 1]),
            "≥",
            0.1,
        ),
        Finding(
            "against",
            "layer 4 reaches farther than layer 5, itself left out, by at least",
            least(others[:, 3] - others[:, 4]),
            "≥",
            0.02,
        ),
    )


@claim(
    65,
    note=2,
    section="attention, lower layers",
    says="The lower layers attend mainly to neighbouring words.",
    verdict="depends",
    holds=(
        "In layers 1 to 3 a neighbour gets at least half as much again as a word does on average, above "
        "that little more. That is not mainly: both neighbours together have a third of the weight "
        "between words at most. And in layers 2 to 5 more than half of all attention goes to [CLS]."
    ),
    references=("clark2019look",),
)
def claim_65() -> Findings:
    """Weigh the words at distance one."""
    ratio, share = head_mean("neighbours").mean(axis=0), head_mean("to neighbours").mean(axis=0)
    marker = head_mean("to [CLS]")
    return (
        Finding(
            "for",
            "a neighbour's weight over the mean weight of a word, least of layers 1 to 3",
            float(ratio[:3].min()),
            "≥",
            1.4,
        ),
        Finding("for", "the same, most of layers 4 to 6", float(ratio[3:].max()), "≤", 1.3),
        Finding("against", "both neighbours together, most of all layers", float(share.max()), "≤", 0.4),
        Finding(
            "against",
            "share of attention that goes to [CLS], least of layers 2 to 5 (start of interval)",
            min(least(marker[:, layer]) for layer in range(1, 5)),
            "≥",
            0.5,
        ),
        Finding("support", "the same, layer 6 (end of interval)", most(marker[:, 5]), "≤", 0.45),
    )
