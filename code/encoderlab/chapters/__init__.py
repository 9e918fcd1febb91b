"""What belongs to one chapter, a folder each; a chapter imports what stands below it and earlier chapters."""
