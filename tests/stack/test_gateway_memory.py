"""A worker of the gateway keeps little memory to itself and loads no library of the formats."""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import psutil
import pytest

from seoga.kb import create_kb, load_kb
from seoga.settings import Settings
from seoga.wiring import build_stack

# With the builtin model 190 to 200 were measured; a model loaded twice takes 120 more.
MOST_MIB = 240.0
HEADERS = {"Accept": "application/json, text/event-stream"}
# Parts of the names of libraries that formats, OCR and speech load.
OTHERS = ("pymupdf", "mupdf", "ctranslate2", "onnxruntime", "/av/", "lxml", "pandas", "PIL")
ARENAS = """
import ctypes, threading
from seoga_gateway.arenas import few_arenas
few_arenas()
held, together = [], threading.Barrier(8)
def work():
    together.wait(30)
    held.append(bytearray(200_000))
    together.wait(30)
threads = [threading.Thread(target=work) for _ in range(8)]
for each in threads: each.start()
for each in threads: each.join()
libc = ctypes.CDLL(None)
libc.open_memstream.restype = libc.fclose.restype = ctypes.c_void_p
text, size = ctypes.c_char_p(), ctypes.c_size_t()
stream = ctypes.c_void_p(libc.open_memstream(ctypes.byref(text), ctypes.byref(size)))
libc.malloc_info(0, stream)
libc.fclose(stream)
print(text.value.count(b"<heap nr="))
"""

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
glibc = pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="mallopt is glibc's")


def workers_at(url: str) -> list[psutil.Process]:
    """The workers of the gunicorn that serves there."""
    bound = f"--bind=127.0.0.1:{urlsplit(url).port}"
    known = psutil.Process().children(recursive=True)
    served = {one.pid: one for one in known if bound in one.cmdline()}
    return [one for one in served.values() if one.ppid() in served]


def ask(url: str, question: str, mode: str) -> None:
    asked = {"name": "search_documents", "arguments": {"query": question, "search_mode": mode}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": asked}
    answer = httpx.post(f"{url}/mcp", json=message, headers=HEADERS, timeout=60)
    line = next(line for line in answer.text.splitlines() if line.startswith("data: {"))
    result = json.loads(line.removeprefix("data: "))["result"]
    assert not result.get("isError"), result


@linux
def test_a_worker_that_has_answered_keeps_the_model_once_and_no_library_of_the_formats(
    tmp_path: Path, start_service
) -> None:
    documents, base = tmp_path / "documents", tmp_path / "base"
    documents.mkdir()
    for number in range(30):
        text = f"# Note {number}\n\n휴가는 {number}일입니다. The leave is {number} days.\n"
        (documents / f"{number}.md").write_text(text, encoding="utf-8")
    kb = create_kb(base, documents, name="Leave")
    stack = build_stack(Settings(base_path=base, cache_path=tmp_path / "cache", offline=True))
    try:
        stack.indexing.run_kb(load_kb(kb.folder))
    finally:
        stack.close()
    url = start_service("gateway", SEOGA_WORKERS="1", SEOGA_BASE_PATH=str(base))
    for number in range(40):
        ask(url, f"휴가 {number} 며칠 leave days", ("auto", "bm25")[number % 2])
    (worker,) = workers_at(url)
    parts = worker.memory_maps()
    private = sum(part.private_clean + part.private_dirty for part in parts) / 2**20
    assert private < MOST_MIB
    assert not [part.path for part in parts if any(name in part.path for name in OTHERS)]


@glibc
def test_eight_threads_share_two_heaps_of_the_c_library() -> None:
    def heaps(program: str) -> int:
        return int(subprocess.check_output([sys.executable, "-c", program], timeout=60))

    assert heaps(ARENAS) <= 2
    assert heaps(ARENAS.replace("few_arenas()\n", "")) > 2
