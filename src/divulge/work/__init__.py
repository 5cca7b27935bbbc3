"""How long work is done: progress, cancelling, budgets, checkpoints, whole files, memory, errors.

Every part of Divulge reports, stops, resumes and fails in the same way, because it all happens
here. A part that counts something long says so:

>>> from divulge import work
>>> with work.step("Counting classes", total=2) as step:
...     step.advance()
...     step.advance()

Whoever called decides what becomes of it:

>>> seen = []
>>> with work.run_with(reporter=seen.append, budget=work.Budget(stop_after=60)):
...     with work.step("Counting classes", total=2) as step:
...         step.advance(2)
>>> seen[-1].step, seen[-1].share, seen[-1].finished
('Counting classes', 1.0, True)
"""

from divulge.work import checks
from divulge.work.budget import Budget, BudgetSpent, Cancellation, Cancelled
from divulge.work.context import (
    Conditions,
    check,
    check_language,
    current,
    current_language,
    is_stopped,
    memoise,
    partial_results,
    run_with,
    step,
    writing_at_once,
)
from divulge.work.effort import Cost, Effort, charge, charge_seconds, uncharged
from divulge.work.memory import (
    MemoryPlan,
    NotEnoughMemory,
    allocate_array,
    available_memory,
    process_peak_memory,
)
from divulge.work.problems import (
    DivulgeError,
    Interruption,
    InvalidInput,
    Problem,
    Problems,
    UnconfirmedName,
    format_quantity,
    nearest,
    quoted,
)
from divulge.work.progress import Progress, Reporter
from divulge.work.reporters import NotebookReporter, TerminalReporter
from divulge.work.storage import filesystem
from divulge.work.storage.checkpoints import Checkpoints
from divulge.work.storage.files import AtomicFiles, lives, whole_file
from divulge.work.storage.inputs import Inputs, input_file, note_input, usable_path
from divulge.work.storage.lock import BeingWritten
from divulge.work.storage.manifest import require_whole
from divulge.work.storage.output_folder import OutputFolder
from divulge.work.storage.places import check_places
from divulge.work.storage.staging import is_staging
from divulge.work.translation import translate_error, translate_message
from divulge.work.version import version, versions

WholeFiles = AtomicFiles
"""`AtomicFiles` by its earlier name."""
remember = memoise
"""`memoise` by its earlier name."""
room = allocate_array
"""`allocate_array` by its earlier name."""
under = run_with
"""`run_with` by its earlier name."""

__all__ = [
    "AtomicFiles",
    "BeingWritten",
    "Budget",
    "BudgetSpent",
    "Cancellation",
    "Cancelled",
    "Checkpoints",
    "Conditions",
    "Cost",
    "DivulgeError",
    "Effort",
    "Inputs",
    "Interruption",
    "InvalidInput",
    "MemoryPlan",
    "NotEnoughMemory",
    "NotebookReporter",
    "OutputFolder",
    "Problem",
    "Problems",
    "Progress",
    "Reporter",
    "TerminalReporter",
    "UnconfirmedName",
    "allocate_array",
    "available_memory",
    "charge",
    "charge_seconds",
    "check",
    "check_language",
    "check_places",
    "checks",
    "current",
    "current_language",
    "filesystem",
    "format_quantity",
    "input_file",
    "is_staging",
    "is_stopped",
    "lives",
    "memoise",
    "nearest",
    "note_input",
    "partial_results",
    "process_peak_memory",
    "quoted",
    "remember",
    "require_whole",
    "room",
    "run_with",
    "step",
    "translate_error",
    "translate_message",
    "uncharged",
    "under",
    "usable_path",
    "version",
    "versions",
    "whole_file",
    "writing_at_once",
]
