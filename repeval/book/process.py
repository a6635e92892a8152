"""What the processes of a build have in common."""

import os
import re

__all__ = ["child_environment", "plain"]

# The date in built files where the caller gives none.
EPOCH = "1767225600"


def child_environment(**more: str) -> dict[str, str]:
    """Return this process's environment, with what makes output repeatable, and `more`."""
    fixed = {
        "SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH", EPOCH),
        "PYTHONHASHSEED": "0",
    }
    return {**os.environ, **fixed, **more}


def plain(text: str) -> str:
    """Return text without a terminal's colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)
