"""Lists what the given folders' pyproject.toml files depend on, the project's own left out."""

import sys
import tomllib
from pathlib import Path

for folder in sys.argv[1:]:
    declared = tomllib.loads(Path(folder, "pyproject.toml").read_text(encoding="utf-8"))
    for line in declared["project"]["dependencies"]:
        if not line.startswith("seoga"):
            sys.stdout.write(f"{line}\n")
