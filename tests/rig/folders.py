"""Folders that go away whatever a test has done to them."""

import shutil
import subprocess
from pathlib import Path


def remove(path: Path) -> None:
    """Remove a file or a tree, if it is there."""
    if path.is_dir() and not path.is_symlink():
        # A test may have left folders that even their owner may not change.
        subprocess.run(["chmod", "-R", "u+rwX", str(path)], check=False, capture_output=True)
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
