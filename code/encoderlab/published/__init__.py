"""What is measured on a published sentence encoder (chapter 5)."""
