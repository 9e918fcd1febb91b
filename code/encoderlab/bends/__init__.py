"""What elementwise functions buy: folds, pieces, regions, and how signals pass through depth (chapter 1)."""
