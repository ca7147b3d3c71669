"""The model on its device, loaded once for a process, and what it hears in a window of sound."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from seoga.errors import ExtractionFailed, Reason
from seoga_extraction.limits import uncap_memory, unlimited_memory
from seoga_extraction.speech.choice import COMPUTE, Machine, suitable
from seoga_extraction.speech.config import SpeechConfig
from seoga_extraction.speech.device import machine_of, processor, second, settle, try_gpu
from seoga_extraction.speech.faults import explain
from seoga_extraction.speech.phrases import (
    AGAIN_S,
    JUDGED_S,
    RATE,
    Phrase,
    clear,
    languages_of,
    phrases,
)
from seoga_extraction.speech.runs import Run, runs
from seoga_extraction.speech.weights import Weights, find

if TYPE_CHECKING:
    from seoga_extraction.speech.phrases import Sound

BEAM = 5
# A second try where the first was unsure or went in circles; the usual six mostly cost time.
TEMPERATURES = (0.0, 0.4)
# A line that the model itself thinks is no speech, and is unsure of, was made up.
NO_SPEECH = 0.5
UNSURE = -1.0
FRAMES_PER_S = 100
# Noise makes the model write until it is full: 36 s for 2 s of a cut file. Nobody says so much:
# fast Korean takes 16 a second. The model's own limit leaves half of its 448 to what came before.
TOKENS_PER_S = 25
FEW_TOKENS = 40
MOST_TOKENS = 224


@dataclass(frozen=True, slots=True)
class Line:
    """One line of speech; times in seconds of the window."""

    start_s: float
    end_s: float
    text: str
    language: str


class Recogniser:
    """A loaded model. `device` is cpu or cuda, `why` says why not the GPU where one was sought."""

    def __init__(self, model: Any, weights: Weights, machine: Machine, why: str) -> None:
        self._model = model
        self.model = weights.name
        self.device = machine.device
        self.why = why

    def lines(self, sound: Sound, before: str = "") -> Iterator[Line]:
        """What is said in a sound (mono, 16 kHz), as it is heard; nothing for silence.

        `before` is the language spoken last, "" when there is none yet. The language is judged for
        each phrase, so a recording may change it.
        """
        found = phrases(sound)
        if not found:
            return
        if self._model.model.is_multilingual:
            languages = languages_of(found, lambda phrase: self._language(sound, phrase), before)
        else:
            languages = ["en"] * len(found)
        for run in runs(found, languages):
            yield from self._heard(run, sound)

    def _heard(self, run: Run, sound: Sound) -> Iterator[Line]:
        for one in self._said(run.sound(sound), run.language):
            spans = run.spans(one.start, one.end)
            parts = list(self._apart(spans, sound, run.language)) if len(spans) > 1 else []
            text = one.text.strip()
            whole = Line(spans[0].start / RATE, spans[-1].end / RATE, text, run.language)
            yield from parts or [whole]

    def _apart(self, spans: list[Phrase], sound: Sound, language: str) -> Iterator[Line]:
        """A line that the model drew over a long pause: each side is heard by itself."""
        for span in spans:
            for one in self._said(sound[span.start : span.end], language):
                start = min(span.start / RATE + one.start, span.end / RATE)
                end = min(span.start / RATE + one.end, span.end / RATE)
                yield Line(start, max(start, end), one.text.strip(), language)

    def _said(self, sound: Sound, language: str) -> Iterator[Any]:
        segments, _ = self._model.transcribe(
            sound,
            max_new_tokens=most_tokens(len(sound) / RATE),
            language=language,
            beam_size=BEAM,
            temperature=TEMPERATURES,
            condition_on_previous_text=False,
        )
        for one in segments:
            if one.no_speech_prob <= NO_SPEECH or one.avg_logprob >= UNSURE:
                yield one

    def _language(self, sound: Sound, phrase: Phrase) -> tuple[str, float]:
        """A phrase's language and how sure that is, from its first seconds; where these do not
        tell, from more of it."""
        first = self._judged(sound, phrase, JUDGED_S)
        if clear(*first) or phrase.seconds <= JUDGED_S:
            return first
        return max(first, self._judged(sound, phrase, AGAIN_S), key=lambda one: one[1])

    def _judged(self, sound: Sound, phrase: Phrase, seconds: float) -> tuple[str, float]:
        """Encodes only what is judged, not the 30 seconds that the model usually looks at."""
        head = sound[phrase.start : min(phrase.end, phrase.start + int(seconds * RATE))]
        features = self._model.feature_extractor(head)
        features = features[:, : max(len(head) * FRAMES_PER_S // RATE, FRAMES_PER_S)]
        token, share = self._model.model.detect_language(self._model.encode(features))[0][0]
        return token[2:-2], float(share)


def most_tokens(seconds: float) -> int | None:
    """How much of a short piece the model may write; None where its own limit is no more."""
    most = FEW_TOKENS + int(TOKENS_PER_S * seconds)
    return most if most < MOST_TOKENS else None


_loaded: dict[SpeechConfig, Recogniser] = {}


def recogniser(config: SpeechConfig, downloading: Callable[[], None]) -> Recogniser:
    """The recogniser of these settings, loaded at the first call and tested on its device.

    `downloading` is called before a download. Raises ExtractionFailed (missing_model,
    missing_dependency).
    """
    if config not in _loaded:
        with unlimited_memory():
            _loaded[config] = _load(config, downloading)
    return _loaded[config]


def status(config: SpeechConfig) -> dict[str, Any]:
    """What speech runs on, from a self-test with a model that is here: `{device, model}`, and
    `gpu`, why there is none. Never downloads: then `model` is what the first recording will fetch.

    Raises ExtractionFailed and ConfigError as `recogniser` does.
    """
    machine, why = machine_of(config)
    model = config.model or suitable(machine)[0]
    speech = _loaded.get(config)
    try:
        speech = speech or _tested(config, model)
    except ExtractionFailed as error:
        if config.offline or error.reason is not Reason.MISSING_MODEL:
            raise
    device = machine.device
    if speech is not None:
        device, why = speech.device, speech.why
        model = speech.model if config in _loaded else model
    return {"device": device, "model": model, **({"gpu": why} if why else {})}


def _tested(config: SpeechConfig, wanted: str) -> Recogniser:
    with unlimited_memory():
        speech = _load(replace(config, offline=True), lambda: None)
    if config.offline or speech.model == wanted:
        _loaded[config] = speech
    return speech


def _load(config: SpeechConfig, downloading: Callable[[], None]) -> Recogniser:
    try:
        import_module("faster_whisper")
    except (ImportError, OSError) as error:
        raise explain(error) from error
    machine, why = machine_of(config)
    weights = find(config, suitable(machine), downloading)
    if machine.device == "cuda" and (failed := try_gpu(weights.folder)):
        why = settle(config, failed)
        machine = processor(config)
        weights = find(config, suitable(machine), downloading)
    model = _model(config, weights, machine)
    if machine.device == "cuda":
        # The driver maps address space far beyond what it uses, at any time.
        uncap_memory()
    return Recogniser(model, weights, machine, why)


def _model(config: SpeechConfig, weights: Weights, machine: Machine) -> Any:
    from faster_whisper import WhisperModel
    from faster_whisper.vad import get_vad_model

    try:
        model = WhisperModel(
            str(weights.folder),
            device=machine.device,
            compute_type=COMPUTE[machine.device],
            cpu_threads=config.threads,
            local_files_only=True,
        )
        second(model)
        get_vad_model()
    except (RuntimeError, OSError, ValueError) as error:
        raise explain(error) from error
    return model
