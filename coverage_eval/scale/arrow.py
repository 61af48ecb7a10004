"""pyarrow, which is in an extra; without it, how to get it is said in one line."""

from __future__ import annotations

from coverage_eval.errors import MissingDependencyError

__all__ = ["pa"]

try:
    import pyarrow as pa
except ImportError as error:
    raise MissingDependencyError(
        "batches of Arrow rows and Spark need pyarrow; pip install 'coverage-eval[spark]'"
    ) from error
