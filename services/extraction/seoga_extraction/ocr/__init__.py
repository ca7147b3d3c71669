"""Text recognition of page images with Tesseract: one page, or many over the cores, in order."""
