"""The claims of chapter 5, each with the check that decides it."""

from encoderlab.chapters.abstraction.claims import (
    heads,
    note_bins,
    note_example,
    parallel,
    path,
    reach,
    read_off,
    whole_sentences,
)
from encoderlab.claims.claim import declared_in

CLAIMS = declared_in(path, parallel, reach, heads, note_example, note_bins, read_off, whole_sentences)
