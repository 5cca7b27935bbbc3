"""Sail in this process: an engine that speaks Spark Connect, for tests and for who has no Java."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Self

from divulge.engines.session import EngineError

LACKS_SAIL = 'engine "sail" needs the package pysail: pip install "divulge[spark]"'


class SailServer:
    """A server of this process's own, on loopback, for the time of a `with` block."""

    def __enter__(self) -> Self:
        # It tells every session that begins and ends; what goes wrong comes back as errors.
        os.environ.setdefault("RUST_LOG", "off")
        try:
            from pysail.spark import SparkConnectServer
        except ImportError:
            raise EngineError(LACKS_SAIL) from None
        self._server = SparkConnectServer("127.0.0.1", 0)
        self._server.start(background=True)
        return self

    @property
    def address(self) -> str:
        """Where it listens."""
        host, port = self._server.listening_address
        return f"sc://{host}:{port}"

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.stop()
