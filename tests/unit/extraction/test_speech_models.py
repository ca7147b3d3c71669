"""Which speech model runs on which device and where it comes from."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import replace
from importlib import invalidate_caches
from pathlib import Path

import psutil
import pytest

from seoga.errors import ConfigError, ExtractionFailed, Reason
from seoga_extraction.speech import choice, cuda, weights
from seoga_extraction.speech.choice import Machine, memory_mb, suitable
from seoga_extraction.speech.config import SpeechConfig
from seoga_extraction.speech.device import machine_of, settle
from seoga_extraction.speech.faults import explain
from seoga_extraction.speech.weights import Packaged, find, lacking
from seoga_extraction.speech.wheels import library_path


@pytest.fixture
def config(tmp_path: Path) -> SpeechConfig:
    return SpeechConfig("", "auto", False, True, str(tmp_path / "cache"), 2, 10.0)


@pytest.fixture
def packaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Packaged:
    """A small model in two packages of its own."""
    parts = (b"first half, ", b"second half")
    for number, part in enumerate(parts, 1):
        data = tmp_path / "site" / f"tiny_part{number}" / "data"
        data.mkdir(parents=True)
        (data.parent / "__init__.py").touch()
        (data / f"model.bin.part{number}").write_bytes(part)
    (tmp_path / "site" / "tiny_part1" / "data" / "config.json").write_text("{}")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    invalidate_caches()
    whole = b"".join(parts)
    made = Packaged(
        ("tiny_part1", "tiny_part2"), "data", len(whole), hashlib.sha256(whole).hexdigest()
    )
    monkeypatch.setattr(weights, "PACKAGED", {"tiny": made})
    return made


def test_a_model_in_parts_is_joined_once_by_any_number_of_processes(
    packaged: Packaged, config: SpeechConfig
) -> None:
    found: list[Path] = []
    threads = [
        threading.Thread(target=lambda: found.append(find(config, ["tiny"], list).folder))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert set(found) == {config.models / "packaged-tiny"}
    assert (found[0] / "model.bin").read_bytes() == b"first half, second half"
    assert (found[0] / "config.json").is_file()
    assert [one.name for one in config.models.iterdir()] == ["packaged-tiny"]


def test_a_joined_model_that_was_cut_off_is_joined_again(
    packaged: Packaged, config: SpeechConfig
) -> None:
    folder = find(config, ["tiny"], list).folder
    (folder / "model.bin").write_bytes(b"first")
    assert find(config, ["tiny"], list).folder == folder
    assert (folder / "model.bin").stat().st_size == packaged.size


def test_damaged_parts_are_told_and_leave_nothing(
    packaged: Packaged, config: SpeechConfig, tmp_path: Path
) -> None:
    (tmp_path / "site" / "tiny_part2" / "data" / "model.bin.part2").write_bytes(b"wrong")
    with pytest.raises(ExtractionFailed, match="damaged") as failed:
        find(config, ["tiny"], list)
    assert failed.value.reason is Reason.MISSING_MODEL
    assert list(config.models.iterdir()) == []


def test_without_a_download_the_best_model_that_is_here_is_taken(
    packaged: Packaged, config: SpeechConfig
) -> None:
    assert find(config, ["large-v3", "small", "tiny"], list).name == "tiny"
    put = config.models / "small"
    put.mkdir(parents=True)
    for name in ("model.bin", "config.json"):
        (put / name).touch()
    assert find(config, ["large-v3", "small", "tiny"], list) == weights.Weights("small", put)


@pytest.mark.parametrize(
    ("model", "says"),
    [
        ("small", "'small' is not here and downloads are forbidden"),
        ("smal", "no speech model 'smal'"),
        ("/nowhere/at all", "no model.bin"),
    ],
)
def test_a_model_that_is_not_here_is_named_with_the_way_to_get_it(
    config: SpeechConfig, model: str, says: str
) -> None:
    with pytest.raises(ExtractionFailed, match=says) as failed:
        find(replace(config, model=model), [], list)
    assert failed.value.reason is Reason.MISSING_MODEL
    assert failed.value.reason.needs_action
    assert "SEOGA_WHISPER_MODEL" in failed.value.hint
    assert lacking(replace(config, model=model))


def test_a_model_is_lacking_only_offline_and_while_none_is_here(
    config: SpeechConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lacking(config) == ""
    assert lacking(replace(config, model="small"))
    assert lacking(replace(config, model="small", offline=False)) == ""
    monkeypatch.setattr(weights, "PACKAGED", {})
    assert "speech-models" in lacking(config)
    snapshot = config.models / "models--Systran--faster-whisper-small" / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    (snapshot / "model.bin").touch()
    assert lacking(config) == lacking(replace(config, model="small")) == ""


@pytest.mark.parametrize(
    ("machine", "best"),
    [
        (Machine("cuda", 24000, 8), "large-v3"),
        (Machine("cuda", 6000, 8), "medium"),
        (Machine("cuda", 2500, 64), "small"),
        (Machine("cuda", 0, 8), "tiny"),
        (Machine("cpu", 64000, 32), "medium"),
        (Machine("cpu", 64000, 8), "small"),
        (Machine("cpu", 24000, 2), "base"),
        (Machine("cpu", 1000, 16), "tiny"),
        (Machine("cpu", 500, 1), "tiny"),
    ],
)
def test_the_model_is_chosen_from_the_device_its_memory_and_the_cores(
    machine: Machine, best: str
) -> None:
    assert suitable(machine)[0] == best
    assert suitable(machine)[-1] == "tiny"


def test_the_table_of_the_readme_is_the_one_that_chooses() -> None:
    readme = Path(__file__).parents[3] / "services" / "extraction" / "README.md"
    lines = readme.read_text(encoding="utf-8").splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("| GPU, MiB free | model"))
    gpu, cpu = [], []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        memory, model, _, cores, free, other = (one.strip() for one in line.split("|")[1:-1])
        gpu += [(model, int(memory or 0))] if model else []
        cpu += [(other, int(cores or 1), int(free or 0))] if other else []
    assert tuple(gpu) == choice.GPU_TABLE
    assert tuple(cpu) == choice.CPU_TABLE


def test_the_memory_of_this_machine_is_known() -> None:
    assert 0 < memory_mb() <= psutil.virtual_memory().total >> 20


def gpu_here() -> bool:
    import ctranslate2

    return bool(ctranslate2.get_cuda_device_count() > 0)


@pytest.mark.skipif(gpu_here(), reason="there is a GPU here")
def test_without_a_gpu_the_cpu_is_used_and_said_or_refused(config: SpeechConfig) -> None:
    machine, why = machine_of(config)
    assert machine.device == "cpu"
    assert "GPU" in why
    for asked in (replace(config, require_gpu=True), replace(config, device="cuda")):
        with pytest.raises(ExtractionFailed, match="No NVIDIA GPU") as failed:
            machine_of(asked)
        assert failed.value.reason is Reason.MISSING_DEPENDENCY
    assert machine_of(replace(config, device="cpu"))[1] == ""
    with pytest.raises(ConfigError):
        machine_of(replace(config, device="cpu", require_gpu=True))


def test_a_gpu_that_fails_its_test_is_refused_where_it_is_required(config: SpeechConfig) -> None:
    failed = explain("Library libcublas.so.12 is not found or cannot be loaded")
    assert "libcublas.so.12" in settle(config, failed)
    with pytest.raises(ExtractionFailed, match=r"REQUIRE_GPU.*libcublas.so.12"):
        settle(replace(config, require_gpu=True), failed)


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (ModuleNotFoundError("No module named 'av'", name="av"), "package av is not installed"),
        (
            OSError("libcublas.so.12: cannot open shared object file: No such file or directory"),
            "library libcublas.so.12 is missing",
        ),
        (
            "Unable to load any of {libcudnn_ops.so.9.1.0, libcudnn_ops.so.9}\nAborted",
            "library libcudnn_ops.so.9.1.0 is missing",
        ),
        (
            ImportError("/x/av/_core.cpython-311.so: wrong ELF class: ELFCLASS32"),
            "built for another processor",
        ),
        (
            ImportError("dlopen(/x/_ext.dylib): mach-o file, but is an incompatible architecture"),
            "_ext.dylib was built for another processor",
        ),
        (RuntimeError("CUDA failed with error out of memory"), "not enough free memory"),
        (RuntimeError("something else"), "something else"),
    ],
)
def test_what_is_wrong_with_a_library_is_told_apart(error: Exception | str, says: str) -> None:
    told = explain(error)
    assert says in told.message
    assert told.hint
    assert told.reason is Reason.MISSING_DEPENDENCY


def test_a_library_that_cannot_be_opened_is_named_by_the_system(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cuda, "REQUIRED", ("libseoga-nowhere.so.12",))
    missing = cuda.missing_library()
    assert missing is not None
    assert "libseoga-nowhere.so.12 is missing" in explain(missing).message


def test_cuda_libraries_installed_as_wheels_are_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "nvidia" / "cublas" / "lib"
    folder.mkdir(parents=True)
    (folder / "libcublas.so.12").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    invalidate_caches()
    monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/own")
    paths = library_path().split(":")
    assert str(folder) in paths
    assert paths[-1] == "/opt/own"
