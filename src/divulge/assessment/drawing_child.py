"""The process that draws: it answers one request after the other until its parent is gone.

Started by `drawing` as a file, so that it imports nothing but vl-convert and nothing that lies in
the working directory. Either way a message is a length and so many bytes; an answer begins with
whether the chart was drawn. What went wrong is not said: vl-convert quotes the chart's values.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import resource
import select
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

REQUEST = struct.Struct("<Q")
ANSWER = struct.Struct("<?Q")

# A picture within the chart that does not carry its own bytes. Quotes and angle brackets are
# escaped in what vl-convert writes, so no value of a record can pretend to be such an attribute.
_EXTERNAL_IMAGE = re.compile(r'<image\b(?![^>]*\bhref="data:)')


def main() -> None:
    """Draw what is asked for on standard input; the pictures go to standard output."""
    _disable_core_dumps()
    sys.path += sys.argv[1:]
    with (
        _take_over_stream(0, os.O_RDONLY) as requests,
        _take_over_stream(1, os.O_WRONLY) as answers,
    ):
        while request := _read_request(requests):
            with _exit_with_parent(requests):
                is_drawn, picture = _draw_picture(request)
            answers.write(ANSWER.pack(is_drawn, len(picture)) + picture)
            answers.flush()


def _disable_core_dumps() -> None:
    # A core file would hold the chart's records. One byte is too little for a file, and the one
    # size at which Linux does not hand the core to a program either (0 would not stop that).
    _, hard_limit = resource.getrlimit(resource.RLIMIT_CORE)
    size = 1 if hard_limit == resource.RLIM_INFINITY else min(1, hard_limit)
    resource.setrlimit(resource.RLIMIT_CORE, (size, size))


def _take_over_stream(descriptor: int, flags: int) -> BinaryIO:
    """A standard stream for ourselves: whatever a library prints must not get between messages."""
    duplicate = os.dup(descriptor)
    null_device = os.open(os.devnull, flags)
    os.dup2(null_device, descriptor)
    os.close(null_device)
    return os.fdopen(duplicate, "rb" if flags == os.O_RDONLY else "wb")


def _read_request(requests: BinaryIO) -> dict[str, Any] | None:
    head = requests.read(REQUEST.size)
    if len(head) < REQUEST.size:
        return None
    (size,) = REQUEST.unpack(head)
    text = requests.read(size)
    if len(text) < size:
        return None
    request: dict[str, Any] = json.loads(text)
    return request


@contextmanager
def _exit_with_parent(requests: BinaryIO) -> Iterator[None]:
    """While it is drawn, the end of the parent ends this process by a signal of the kernel.

    vl-convert keeps Python's lock as long as it draws, so no thread could look after the parent;
    and the signal that Linux has for it (PR_SET_PDEATHSIG) comes when the *thread* that started
    this process ends. While a chart is drawn nothing is sent to us: SIGIO, which ends a process
    that does not handle it, can only mean that the pipe was closed.
    """
    flags = fcntl.fcntl(requests, fcntl.F_GETFL)
    fcntl.fcntl(requests, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(requests, fcntl.F_SETFL, flags | os.O_ASYNC)
    hangup = select.poll()
    hangup.register(requests, 0)
    if hangup.poll(0):  # before the signal was asked for
        os._exit(1)
    yield
    fcntl.fcntl(requests, fcntl.F_SETFL, flags)


def _draw_picture(request: dict[str, Any]) -> tuple[bool, bytes]:
    import vl_convert

    try:
        # No address is allowed: a chart is drawn from its own records.
        svg: str = vl_convert.vegalite_to_svg(request["chart"], allowed_base_urls=[])
        if request["kind"] == "svg":
            return True, svg.encode()
        # vl-convert keeps to the allowed addresses for data, and fetches images from anywhere.
        if _EXTERNAL_IMAGE.search(svg):
            return False, b""
        return True, vl_convert.svg_to_png(svg, scale=request["scale"])
    except Exception:  # what it says may hold a value of a record
        return False, b""


if __name__ == "__main__":
    main()
