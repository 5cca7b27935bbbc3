"""The context of a verb: progress bars, real-time limit, output folder, checkpoints.

Before any work is done it is seen that the results may go where they are to go; what is written
appears together when all is done; what an interrupted run had finished is taken up.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from divulge import work
from divulge.cli.data_reader import split_dataset_name

Files = Mapping[str, Path | None]
"""Files by the names of the options that give them."""


@contextmanager
def set_run_conditions(
    stop_after: float | None = None,
    outputs: Files | None = None,
    inputs: Iterable[Path | str | None] = (),
    overwrite: bool = False,
    resume: Path | None = None,
    is_quiet: bool = False,
) -> Iterator[None]:
    """Progress bars in a terminal, none in a pipe; a clock, files and checkpoints where given.

    Args:
        stop_after: seconds of real time.
        outputs: what is to be written.
        inputs: what is read, and never written.
        overwrite: whether files that exist are replaced.
        resume: where an interrupted run left what it had finished.
        is_quiet: whether no bars are drawn, because questions are asked where they would be.

    Raises:
        InvalidInput: if a result would go onto an input, a device, or a file that exists.
    """
    all_inputs = list_input_files(inputs)
    work.check_places("what is to be written", outputs or {}, all_inputs, overwrite)
    with ExitStack() as stack:
        reporter = None
        if sys.stderr.isatty() and not is_quiet:
            reporter = stack.enter_context(work.TerminalReporter())
        budget = None if stop_after is None else work.Budget(stop_after)
        checkpoints = None if resume is None else work.Checkpoints(resume)
        files = work.AtomicFiles(overwrite=overwrite)
        stack.enter_context(
            work.run_with(
                reporter=reporter,
                budget=budget,
                checkpoints=checkpoints,
                inputs=all_inputs,
                files=files,
            )
        )
        # The files appear first, while it is still known what was read.
        stack.enter_context(files)
        yield
    if checkpoints is not None:
        checkpoints.clear()


def list_input_files(files: Iterable[Path | str | None]) -> work.Inputs:
    """What a verb reads: the files that are given, and those that a release file names."""
    from divulge.release import Release
    from divulge.release.output.output_files import list_inputs

    all_inputs = work.Inputs()
    for file in files:
        if file is None or not str(file) or "\0" in str(file):
            continue  # said when it is read
        path, _ = split_dataset_name(Path(file))
        if path.suffix.lower() == ".toml" and path.is_file():
            all_inputs = all_inputs | list_inputs(Release.load(path))
        all_inputs.add(path)
    return all_inputs
