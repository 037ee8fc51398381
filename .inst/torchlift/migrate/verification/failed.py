"""What ends a verification, and more than one of its parts says."""


class VerificationFailed(Exception):
    """The fixes cannot be verified, and nothing was written; the message is a sentence that says why and what to do."""
