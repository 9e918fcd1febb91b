"""The figures of the book, one file per chapter: matplotlib only, no mathematics."""
