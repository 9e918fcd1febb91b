"""A small NumPy Transformer encoder whose every part can be switched off."""
