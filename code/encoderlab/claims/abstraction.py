"""The claims of chapter 5, on the second note: the path of information, and what which layer does."""

from encoderlab.claims import (
    information_path,
    layer_attention,
    layer_example,
    layer_probes,
    layer_reach,
    layer_roles,
    layer_sentences,
    path_length,
)

CLAIMS = (
    *information_path.CLAIMS,
    *path_length.CLAIMS,
    *layer_reach.CLAIMS,
    *layer_attention.CLAIMS,
    *layer_example.CLAIMS,
    *layer_probes.CLAIMS,
    *layer_roles.CLAIMS,
    *layer_sentences.CLAIMS,
)
"""Claims 33, 34, 36 to 45, 54 to 60 and 65 to 70."""
