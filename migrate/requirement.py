"""The lowest torch release that one requirement allows, in the notations of pip, Poetry and conda.

Only what bounds torch from below is read, so the whole grammar of markers and extras is not needed. Sources: the
version specifier specification at packaging.python.org (PEP 440, PEP 508), Poetry's page on dependency specification,
and conda's on package match specifications.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from torchlift.versions import TorchVersion

_PIP_NAME = re.compile(r"torch(?![\w.-]*\w)\s*(?:\[[^\]]*\])?", re.IGNORECASE)
_CONDA_NAME = re.compile(r"(?:[\w./-]+::)?pytorch(?:-cpu|-gpu)?(?![\w.-])", re.IGNORECASE)
_WHEEL = re.compile(r"(?:^|[/\\\s=])torch-(\d[^-/\\]*)-[^/\\\s]+\.whl", re.IGNORECASE)
_VERSION = r"v?\d+(?:\.\d+)*(?:\.\*|\*|[-_.]?[a-z][\w.-]*|-\d+)*(?:\+[\w.-]+)?"
_CLAUSE = re.compile(rf"(===|==|~=|>=|<=|!=|>|<|=|\^|~)?\s*({_VERSION}|\*)", re.IGNORECASE)
