"""Map the top-level folders below the `torchlift` import name; everything else is in pyproject.toml.

setuptools drops sub-packages that are not listed, so the list is found, folder by folder. The wheel brings along what a run
has to know about the rules (`rules/rule_index.py`), which takes longer to find out than to look at a small change.
"""

import os
import subprocess
import sys
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

FOLDERS = {
    "torchlift": "src/torchlift",
    "torchlift.migrate": "migrate",
    "torchlift.rules": "rules",
    "torchlift.doctor": "doctor",
    "torchlift.testing": "testing",
    "torchlift.record": "record",
    "torchlift.convert": "convert",
    "torchlift.server": "server",
    "torchlift.survey": "survey",
    "torchlift.docs": "docs",
}

packages = []
for name, folder in FOLDERS.items():
    packages += [name, *(f"{name}.{found}" for found in find_packages(folder))]


class BuildWithIndex(build_py):
    """Copies the sources, and has them say what they know about their rules."""

    def run(self) -> None:
        """Build, and add the index to what is built."""
        super().run()
        if not self.editable_mode:
            built = str(Path(self.build_lib).resolve())
            paths = [built, *filter(None, [os.environ.get("PYTHONPATH")])]
            subprocess.run(
                [sys.executable, "-c", "from torchlift.rules.rule_index import ship; ship()"],
                check=True,
                cwd=built,
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(paths),
                    "PYTHONHASHSEED": "0",
                    "PYTHONDONTWRITEBYTECODE": "1",
                },
            )


setup(
    cmdclass={"build_py": BuildWithIndex},
    packages=packages,
    package_dir=FOLDERS,
    package_data={"": ["py.typed", "*.json", "data/*"], "torchlift.docs": ["*.md"]},
    # `torchlift help` makes these of what is installed, entry by entry.
    exclude_package_data={"torchlift.docs": ["rules.md", "doctor.md", "errors.md", "smokes.md"]},
)
