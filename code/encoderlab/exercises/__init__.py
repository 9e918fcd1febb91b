"""Checks for the exercises, one file per chapter: each says what is right or what is not yet."""
