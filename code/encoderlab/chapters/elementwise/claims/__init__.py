"""The claims of chapter 1, each with the check that decides it."""

from encoderlab.chapters.elementwise.claims import functions, what_one_bend_buys
from encoderlab.claims.claim import declared_in

CLAIMS = declared_in(functions, what_one_bend_buys)
