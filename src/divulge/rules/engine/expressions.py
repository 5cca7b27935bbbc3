"""Terms and conditions of a rule as SQL, with what must not happen while they are calculated.

A guard is a condition that no binding may satisfy: a division by zero, a text where a number is
needed. Guards are asked apart, since an engine may calculate in any order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sqlglot import exp

from divulge.rules.checks.type_inference import (
    Environment,
    comparison_type,
    constant_type,
    infer_term,
    number_type,
)
from divulge.rules.checks.value_types import DOUBLE, TEXT, ValueType, join_types
from divulge.rules.engine.sql_values import (
    Typed,
    cast,
    convert,
    fill,
    is_stored_as_text,
    make_tuple,
    match_maybe,
    normalise_set,
    test_null,
    write_constant,
)
from divulge.rules.language.syntax import (
    Call,
    CaseTerm,
    Comparison,
    CompoundCondition,
    Condition,
    Constant,
    Membership,
    NullTest,
    Operation,
    SetAccess,
    SetTerm,
    Term,
    TupleTerm,
    Unpack,
    Variable,
)

_COMPARISONS: dict[str, Callable[..., exp.Expr]] = {
    "=": exp.EQ,
    "!=": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
}
_ARITHMETIC: dict[str, Callable[..., exp.Expr]] = {"+": exp.Add, "-": exp.Sub, "*": exp.Mul}


@dataclass(frozen=True)
class Guard:
    """What no binding may satisfy, and what is said if one does."""

    condition: exp.Expr
    message: str


@dataclass(kw_only=True)
class Translator:
    """Turns terms into SQL under the bindings of a rule's variables."""

    bindings: dict[str, Typed] = field(default_factory=dict)
    known: dict[Term, Typed] = field(default_factory=dict)
    """Terms that were worked out before: aggregates, and what their groups are made by."""
    guards: list[Guard] = field(default_factory=list)
    present: list[exp.Expr] = field(default_factory=list)
    """What holds of every binding: a name that is looked up is in the set."""
    numeric: list[exp.Expr] = field(default_factory=list)
    """The same of values that are calculated with, or whose letters are: nulls are none."""

    @property
    def environment(self) -> Environment:
        """The types of the variables."""
        return {name: value.type for name, value in self.bindings.items()}

    def translate(self, term: Term, target: ValueType | None = None) -> Typed:
        """A term as SQL, as another kind of value if that is asked for."""
        value = self._translate_term(term)
        return value if target is None else Typed(convert(value, target), target)

    def translate_condition(self, condition: Condition) -> exp.Expr:
        """A condition as SQL."""
        if isinstance(condition, CompoundCondition):
            join = exp.and_ if condition.operator == "and" else exp.or_
            return exp.paren(join(*map(self.translate_condition, condition.parts)), copy=False)
        if isinstance(condition, NullTest):
            tested = test_null(self.translate(condition.term))
            return exp.not_(tested) if condition.is_negated else tested
        if isinstance(condition, Membership):
            found = self._translate_membership(condition)
            is_null = test_null(self.translate(condition.item))
            return exp.and_(exp.not_(found), exp.not_(is_null)) if condition.is_negated else found
        return self._translate_comparison(condition)

    def _translate_comparison(self, condition: Comparison) -> exp.Expr:
        left, right = self.translate(condition.left), self.translate(condition.right)
        kind = comparison_type(condition.operator, left.type, right.type, condition.place)
        if condition.operator in ("<", "<=", ">", ">=") and kind != TEXT:
            one, other = self.need_number(left, kind), self.need_number(right, kind)
        else:
            one, other = convert(left, kind), convert(right, kind)
        if condition.operator == "=?":
            return match_maybe(Typed(one, kind), Typed(other, kind))
        if condition.operator == "subset":
            return fill("list_has_all(T, S)", S=one, T=other)
        if kind == TEXT and condition.operator in ("<", "<=", ">", ">="):
            both = exp.not_(exp.or_(test_null(left), test_null(right)))
            compared = _COMPARISONS[condition.operator](this=one, expression=other)
            return exp.and_(both, compared)
        compared = _COMPARISONS[condition.operator](this=one.copy(), expression=other.copy())
        nulls = [test_null(side) for side in (left, right) if side.type.nullable]
        # Of a null nobody knows that it differs.
        return exp.and_(compared, *map(exp.not_, nulls)) if condition.operator == "!=" else compared

    def _translate_membership(self, condition: Membership) -> exp.Expr:
        item, collection = self.translate(condition.item), self.translate(condition.collection)
        kind = join_types(item.type, *collection.type.parts)
        return fill(
            "list_contains(S, E)",
            S=convert(collection, ValueType("set", parts=(kind,))),
            E=convert(item, kind),
        )

    def _translate_term(self, term: Term) -> Typed:
        if isinstance(term, Variable):
            return self.bindings[term.name]
        if isinstance(term, Constant):
            return write_constant(term.value, constant_type(term.value))
        if term in self.known:
            return self.known[term]
        kind = infer_term(term, self.environment)
        if isinstance(term, TupleTerm):
            return Typed(make_tuple([self.translate(item).sql for item in term.items]), kind)
        if isinstance(term, SetTerm):
            items = [self.translate(item, kind.parts[0]).sql for item in term.items]
            return Typed(convert_list(items, kind), kind)
        if isinstance(term, Unpack):
            return self.translate(term.collection)
        return self._translate_calculation(term, kind)

    def _translate_calculation(self, term: Term, kind: ValueType) -> Typed:
        if isinstance(term, Operation):
            return Typed(self._translate_operation(term, kind), kind)
        if isinstance(term, SetAccess):
            return self._translate_lookup(term, kind)
        if isinstance(term, CaseTerm):
            return Typed(self._translate_case(term, kind), kind)
        if isinstance(term, Call):
            return Typed(self._translate_call(term, kind), kind)
        raise TypeError(term)

    def _translate_operation(self, term: Operation, kind: ValueType) -> exp.Expr:
        values = [self.translate(operand) for operand in term.operands]
        if term.operator == "/":
            numerator, divisor = (self.need_number(value, DOUBLE) for value in values)
            self.guards.append(Guard(fill("D = 0", D=divisor), _describe_zero(term.operands[1])))
            return fill("(N / nullif(D, 0))", N=numerator, D=divisor)
        exact = [number_type(value.type, term.place) for value in values]
        wanted = [kind if kind == DOUBLE or term.operator != "*" else one for one in exact]
        operands = [self.need_number(value, one) for value, one in zip(values, wanted, strict=True)]
        if len(operands) == 1:
            return exp.Neg(this=exp.paren(operands[0]))
        operation = _ARITHMETIC[term.operator](
            this=operands[0].copy(), expression=operands[1].copy()
        )
        return exp.paren(operation, copy=False)

    def need_number(self, value: Typed, kind: ValueType) -> exp.Expr:
        """The value as a number; a text that is none is told, a null satisfies nothing."""
        number = convert(value, kind)
        if is_stored_as_text(value.type):
            refused = exp.and_(exp.not_(test_null(value)), fill("N IS NULL", N=number))
            message = "a text that is not a number is calculated with."
            self.guards.append(Guard(refused, message))
            self.numeric.append(fill("N IS NOT NULL", N=number))
        return number

    def _translate_lookup(self, term: SetAccess, kind: ValueType) -> Typed:
        collection, key = self.translate(term.collection), self.translate(term.key)
        if collection.type.kind == "unknown":
            return Typed(exp.null(), kind)
        name = collection.type.parts[0].parts[0]
        if key.type.kind == "set":
            wanted = convert(key, ValueType("set", parts=(join_types(name, key.type.parts[0]),)))
            kept = fill(
                "list_filter(S, LAMBDA p : list_contains(K, p.f0))", S=collection.sql, K=wanted
            )
            return Typed(kept, kind)
        value = fill(
            "list_extract(list_filter(S, LAMBDA p : p.f0 = K), 1).f1",
            S=collection.sql,
            K=convert(key, join_types(name, key.type)),
        )
        self.present.append(fill("V IS NOT NULL", V=value))
        return Typed(value, kind)

    def _translate_case(self, term: CaseTerm, kind: ValueType) -> exp.Expr:
        """A case; what a branch needs is needed only of bindings that take it."""
        case = exp.Case()
        passed: list[exp.Expr] = []
        for condition, result in term.branches:
            test: exp.Expr = self.translate_condition(condition)
            taken = exp.and_(*(_deny(earlier) for earlier in passed), test)
            case = case.when(test, self._translate_branch(result, kind, taken))
            passed.append(test)
        otherwise = exp.and_(*(_deny(earlier) for earlier in passed))
        return case.else_(self._translate_branch(term.otherwise, kind, otherwise))

    def _translate_branch(self, term: Term, kind: ValueType, taken: exp.Expr) -> exp.Expr:
        inner = Translator(bindings=self.bindings, known=self.known)
        result = inner.translate(term, kind).sql
        self.guards += [
            Guard(exp.and_(taken, guard.condition), guard.message) for guard in inner.guards
        ]
        self.present += [_imply(taken, needed) for needed in inner.present]
        self.numeric += [_imply(taken, needed) for needed in inner.numeric]
        return result

    def _translate_call(self, term: Call, kind: ValueType) -> exp.Expr:
        values = [self.translate(argument) for argument in term.arguments]
        first = values[0]
        if term.function == "size":
            return fill("CAST(len(S) AS BIGINT)", S=first.sql)
        if term.function in ("union", "minus"):
            one, other = (convert(value, kind) for value in values)
            template = (
                "list_sort(list_distinct(list_concat(S, T)))"
                if term.function == "union"
                else "list_filter(S, LAMBDA e : NOT list_contains(T, e))"
            )
            return fill(template, S=one, T=other)
        if term.function == "without":
            name = join_types(first.type.parts[0].parts[0], values[1].type)
            key = convert(values[1], name)
            return fill("list_filter(S, LAMBDA p : p.f0 <> K)", S=first.sql, K=key)
        if term.function in ("abs", "round"):
            number = self.need_number(first, number_type(first.type, term.place))
            if term.function == "abs":
                return fill("abs(N)", N=number)
            digits = self.translate(term.arguments[1]).sql
            rounded = fill("round(N, CAST(D AS INTEGER))", N=number, D=digits)
            return convert(Typed(rounded, DOUBLE), kind)
        if term.function in ("min", "max"):
            numbers = [self.need_number(value, kind) for value in values]
            function = "least" if term.function == "min" else "greatest"
            return fill(f"{function}(A, B)", A=numbers[0], B=numbers[1])
        templates = {"lower": "lower(T)", "trim": "trim(T)", "concat": "T || U"}
        # Nulls have no letters, as they have no size: such a binding gives nothing.
        self.numeric += [exp.not_(test_null(value)) for value in values if value.type.nullable]
        parts = dict(zip("TU", (value.sql for value in values), strict=False))
        return fill(templates[term.function], **parts)


def _describe_zero(divisor: Term) -> str:
    name = divisor.name if isinstance(divisor, Variable) else "the divisor"
    return f"a division by zero. Exclude it: {name} != 0."


def _deny(condition: exp.Expr) -> exp.Expr:
    """That a condition does not hold, also where it compares a null."""
    return fill("NOT coalesce(C, FALSE)", C=condition)


def _imply(condition: exp.Expr, needed: exp.Expr) -> exp.Expr:
    return exp.paren(exp.or_(_deny(condition), needed), copy=False)


def convert_list(items: list[exp.Expr], kind: ValueType) -> exp.Expr:
    """A set from its elements."""
    listed = cast(exp.Array(expressions=[item.copy() for item in items]), kind)
    return normalise_set(listed)
