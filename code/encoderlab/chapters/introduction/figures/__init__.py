"""The figures of the introduction, one topic per file."""
