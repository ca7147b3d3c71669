"""The files of tests that take longest, the longest first: where the short ones come last, workers
end together."""

from __future__ import annotations

LONGEST = (
    "stack/test_file_qa.py",
    "unit/extraction/test_corpus.py",
    "chaos/test_chaos.py",
    "e2e/test_end_to_end.py",
    "unit/extraction/test_damages.py",
    "unit/embedding/test_engine.py",
    "stack/test_kill.py",
    "stack/test_lifecycle.py",
    "stack/test_search_cases.py",
    "unit/extraction/test_speech.py",
    "unit/extraction/test_speech_turns.py",
    "unit/extraction/test_speech_broken.py",
    "unit/extraction/test_expected.py",
    "stack/test_run_stops.py",
    "stack/test_kill_scan.py",
    "chaos/test_provider.py",
    "chaos/test_full_disk.py",
    "stack/test_soak.py",
    "stack/test_search_while_indexing.py",
    "unit/indexer/test_generations.py",
    "unit/extraction/test_hostile.py",
    "unit/extraction/test_speech_models.py",
    "unit/extraction/test_speech_parts.py",
    "unit/extraction/test_ocr.py",
    "unit/extraction/test_pdf_scans.py",
    "stack/test_watch.py",
    "stack/test_stopping.py",
    "stack/test_estimate.py",
    "stack/test_context_batches.py",
    "unit/shared/test_cli_indexing.py",
    "unit/shared/test_cli_run.py",
    "e2e/test_conformance.py",
)
