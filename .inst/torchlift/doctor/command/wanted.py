"""The torch that `--for` asks for."""

from __future__ import annotations


class WantedError(ValueError):
    """This is no requirement of torch; the text is a sentence without a full stop."""


def torch_requirement(text: str) -> str:
    """A requirement of torch from "torch==2.15", ">=2.14,<3", "2.15" or "torch", as the resolver takes it.

    Raises:
        WantedError: it is none, or one of another package.
    """
    from packaging.requirements import InvalidRequirement, Requirement

    stripped = text.strip()
    if stripped[:1].isdigit():
        # A line said by itself means any release of it.
        stripped = f"torch=={stripped}{'' if stripped.count('.') != 1 else '.*'}"
    elif stripped[:1] in set("=<>!~"):
        stripped = f"torch{stripped}"
    try:
        requirement = Requirement(stripped)
    except InvalidRequirement:
        raise WantedError(f"{text!r} is not a requirement; write it like torch==2.15 or torch>=2.14,<3") from None
    if requirement.name.lower() != "torch":
        raise WantedError(
            f"{text!r} is a requirement of {requirement.name}; --for plans for torch, such as torch==2.15"
        )
    if requirement.url is not None or requirement.marker is not None:
        raise WantedError(f"{text!r} has more than a version; write it like torch==2.15")
    return f"torch{requirement.specifier}"
