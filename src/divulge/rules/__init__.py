"""Rules: what people who know the business say follows from the data, and why.

>>> from divulge.rules import Program, evaluate
>>> program = Program.parse('''
...     own("A", "B", 0.4). own("A", "C", 0.6). own("C", "B", 0.2).
...     rel(X, X) :- own(X, _, _).
...     rel(X, Y) :- rel(X, Z), own(Z, Y, W), msum(W, <Z>) > 0.5.
... ''')
>>> with evaluate(program) as facts:
...     facts.rows("rel")
[('A', 'A'), ('A', 'B'), ('A', 'C'), ('C', 'C')]
"""

from divulge.rules.checks.program_check import CheckedProgram, check_program
from divulge.rules.dictionary_facts import RecordKeys, list_dictionary_facts, read_record_keys
from divulge.rules.engine.evaluation import evaluate
from divulge.rules.engine.facts import FactRow, Facts
from divulge.rules.engine.fixpoint import BoundReached
from divulge.rules.engine.stored_values import LabelledNull
from divulge.rules.explanation.explain import explain
from divulge.rules.explanation.explanation import Explanation
from divulge.rules.language.program import Program
from divulge.rules.library.library_programs import list_library, load_library
from divulge.rules.library.name_likeness import measure_likeness
from divulge.rules.plugin_atoms import AnswerReason, RulePlugin, plugin

__all__ = [
    "AnswerReason",
    "BoundReached",
    "CheckedProgram",
    "Explanation",
    "FactRow",
    "Facts",
    "LabelledNull",
    "Program",
    "RecordKeys",
    "RulePlugin",
    "check_program",
    "evaluate",
    "explain",
    "list_dictionary_facts",
    "list_library",
    "load_library",
    "measure_likeness",
    "plugin",
    "read_record_keys",
]
