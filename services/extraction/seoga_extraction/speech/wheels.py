"""Where the CUDA libraries are that were installed as wheels."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path


def library_path() -> str:
    """LD_LIBRARY_PATH for a process that shall find the CUDA libraries installed as wheels; "" when
    there are none."""
    from seoga.settings import environment

    spec = find_spec("nvidia")
    roots = [] if spec is None else [Path(root) for root in spec.submodule_search_locations or ()]
    folders = sorted({str(lib.parent) for root in roots for lib in root.glob("*/lib/lib*.so.*")})
    if not folders:
        return ""
    return os.pathsep.join([*folders, environment().get("LD_LIBRARY_PATH", "")]).rstrip(os.pathsep)
