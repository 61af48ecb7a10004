"""The errors of this package; each message can be shown to a user unchanged."""


class AlignerError(Exception):
    """Base of all errors that this package raises on purpose.

    >>> from fast_align_wrapper import FastAlign
    >>> try:
    ...     FastAlign.load("no-such-model")
    ... except AlignerError as error:
    ...     print(error)
    no-such-model: no such file

    Raised itself when the aligner failed: exit status, wrong number of lines, NaN, time limit.
    The message is one line: what is wrong, where, and what to do.
    """


class AlignerDataError(AlignerError, ValueError):
    """Text, links or a model file that cannot be used, or a file that cannot be written."""


class AlignerNotFoundError(AlignerError, ImportError):
    """No fast_align was found, or it lacks a feature that is asked for."""


class AlignerWarning(UserWarning):
    """A pair that is too long, so that the aligner does not get it."""
