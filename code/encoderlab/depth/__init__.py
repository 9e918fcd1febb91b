"""What a stack of attention layers is, beside one layer (chapter 3)."""
