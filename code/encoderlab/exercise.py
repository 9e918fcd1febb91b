"""What the checks of all chapters' exercises say."""

RIGHT = "Right."
