"""Text recognition of page images with Tesseract: one page, or many over the cores, in order."""

from seoga_extraction.ocr.config import OcrConfig
from seoga_extraction.ocr.pages import Recogniser, tally, unrecognised
from seoga_extraction.ocr.strategy import PageText

__all__ = ["OcrConfig", "PageText", "Recogniser", "tally", "unrecognised"]
