"""What is built is what the checkout holds; everything else about it stands in pyproject.toml.

setuptools collects files in `build/lib` and never takes one out: a rule that was deleted would be in the next wheel that is
built in the same checkout, and run.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class Fresh(build_py):
    """Collects the files of the packages in a folder that holds none of an earlier build."""

    def run(self) -> None:
        for package in self.packages or ():
            shutil.rmtree(Path(self.build_lib, *package.split(".")), ignore_errors=True)
        super().run()


setup(cmdclass={"build_py": Fresh})
