"""Which version of Divulge is at work; results and checkpoints carry it."""

from importlib import metadata


def version() -> str:
    """The installed version.

    >>> version()[0].isdigit()
    True
    """
    return metadata.version("divulge")
