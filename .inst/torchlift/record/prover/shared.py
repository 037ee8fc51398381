"""What is shared with `torchlift.testing`: how values are described and compared, and how inputs are changed.

The files lie on the path of this package, because torchlift itself cannot be imported in the user's process.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchlift.testing.cases import batch_size, with_batch_size, with_dtype, with_other_values
    from torchlift.testing.describe import describe, describe_error
    from torchlift.testing.difference import Mismatch, Tolerance, call_mismatches
    from torchlift.testing.inputs import Inputs, changed, fresh, tensors
    from torchlift.testing.nodes import Array, Call, Container, Node, Raised, Scalar, short
else:
    _TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    sys.modules[__package__].__path__.append(os.path.join(_TOP, "testing"))
    from .cases import batch_size, with_batch_size, with_dtype, with_other_values
    from .describe import describe, describe_error
    from .difference import Mismatch, Tolerance, call_mismatches
    from .inputs import Inputs, changed, fresh, tensors
    from .nodes import Array, Call, Container, Node, Raised, Scalar, short

__all__ = [
    "Array",
    "Call",
    "Container",
    "Inputs",
    "Mismatch",
    "Node",
    "Raised",
    "Scalar",
    "Tolerance",
    "batch_size",
    "call_mismatches",
    "changed",
    "describe",
    "describe_error",
    "fresh",
    "short",
    "tensors",
    "with_batch_size",
    "with_dtype",
    "with_other_values",
]
