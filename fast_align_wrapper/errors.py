"""The errors of this package; each message can be shown to a user unchanged."""


class AlignerError(Exception):
    """Base of all errors that this package raises on purpose.

    >>> from fast_align_wrapper import FastAlign
    >>> try:
    ...     FastAlign.load("no-such-model")
    ... except AlignerError as error:
    ...     print(error)
    no-such-model: no such file

    It is raised itself if the aligner failed (exit status, wrong number of lines, NaN, time limit).
    The message is one line that says what is wrong, where, and what to do.
    """


class AlignerDataError(AlignerError, ValueError):
    """Unusable text, links or model file, or a file that cannot be written."""


class AlignerNotFoundError(AlignerError, ImportError):
    """No fast_align was found, or it lacks the requested feature."""


class AlignerWarning(UserWarning):
    """A pair is too long for the aligner, or the system refuses threads."""
