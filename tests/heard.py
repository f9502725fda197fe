"""Warnings by their kind: what the garbage collector finds just then warns as well, but is not what a test is about."""

import contextlib
import warnings


@contextlib.contextmanager
def heard(*kinds):
    """The list of the warnings of these kinds, UserWarning and RuntimeWarning if none is named, that the block gave."""
    found, wanted = [], kinds or (UserWarning, RuntimeWarning)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            yield found
        finally:
            found += [warning for warning in told if issubclass(warning.category, wanted)]
