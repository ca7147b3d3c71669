"""Lists what the given folders' pyproject.toml files depend on, the project's own left out.

A folder may name extras, as in `services/extraction[cuda]`; those it does not have are left out.
"""

import sys
import tomllib
from pathlib import Path

for argument in sys.argv[1:]:
    folder, _, extras = argument.rstrip("]").partition("[")
    project = tomllib.loads(Path(folder, "pyproject.toml").read_text(encoding="utf-8"))["project"]
    offered = project.get("optional-dependencies", {})
    wanted = [line for extra in extras.split(",") for line in offered.get(extra, [])]
    for line in [*project["dependencies"], *wanted]:
        if not line.startswith("seoga"):
            sys.stdout.write(f"{line}\n")
