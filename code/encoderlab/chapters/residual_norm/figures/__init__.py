"""The figures of this chapter, one topic per file."""
