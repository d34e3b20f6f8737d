"""SQL-like expressions over an event's properties: filters, and actions that change them.

The language is that of Azure Service Bus's SQL filters and actions (learn.microsoft.com, "SQLFilter syntax", "SQLAction
syntax"), three-valued logic included: what is compared with a property that is not there is unknown, and a filter
passes only what is true.
"""

import operator
from collections.abc import Callable
from functools import cache
from typing import Any

from lark import Lark, Token, Transformer, UnexpectedInput, UnexpectedToken, v_args
from lark.exceptions import VisitError
from msgspec.structs import replace

from shared.errors import Invalid
from shared.topics.cloudevents import CloudEvent, Property, check_name

LONGEST = 1024
"""Characters of an expression: the service's own limit (learn.microsoft.com, "Service Bus quotas")."""

Value = Property | None
Evaluate = Callable[[CloudEvent], Value]
Change = Callable[[CloudEvent], tuple[str, Value]]

_GRAMMAR = r"""
?filter: condition
actions: action (";" action)* ";"?
?action: "SET"i NAME "=" condition -> set
       | "REMOVE"i NAME            -> remove

?condition: conjunction | condition "OR"i conjunction -> either
?conjunction: negation | conjunction "AND"i negation  -> both
?negation: predicate | "NOT"i negation                -> negate
?predicate: sum
    | sum COMPARISON sum                              -> compare
    | sum "IS"i "NULL"i                               -> is_null
    | sum "IS"i "NOT"i "NULL"i                        -> is_not_null
    | sum "IN"i "(" sum ("," sum)* ")"                -> is_in
    | sum "NOT"i "IN"i "(" sum ("," sum)* ")"         -> is_not_in
    | sum "LIKE"i sum ["ESCAPE"i STRING]              -> like
    | sum "NOT"i "LIKE"i sum ["ESCAPE"i STRING]       -> not_like
    | "EXISTS"i "(" NAME ")"                          -> exists
?sum: product | sum PLUS_MINUS product                -> calculate
?product: factor | product TIMES factor               -> calculate
?factor: NUMBER -> number
    | STRING    -> string
    | "TRUE"i   -> true
    | "FALSE"i  -> false
    | "NULL"i   -> null
    | NAME      -> name
    | "-" factor -> minus
    | "(" condition ")"

COMPARISON: "<>" | "!=" | "<=" | ">=" | "=" | "<" | ">"
PLUS_MINUS: "+" | "-"
TIMES: "*" | "/" | "%"
NAME: /\[[^\[\]]+\]|[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)?/i
NUMBER: /[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?/i
STRING: /'(?:[^']|'')*'/
%ignore /\s+/
"""

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "<>": operator.ne, "!=": operator.ne,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_CALCULATE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "%": operator.mod,
}  # fmt: skip


def read_filter(text: str) -> Callable[[CloudEvent], bool]:
    """Raises Invalid, saying where, for what is no expression."""
    evaluate: Evaluate = _parsed(text, "filter")
    return lambda event: evaluate(event) is True


def read_actions(text: str) -> Callable[[CloudEvent], CloudEvent]:
    """`SET name = expression; REMOVE name`, one after another, each on what the one before made. Raises Invalid."""
    changes: list[Change] = _parsed(text, "actions")

    def apply(event: CloudEvent) -> CloudEvent:
        for change in changes:
            event = _changed(event, *change(event))
        return event

    return apply


def _changed(event: CloudEvent, name: str, value: Value) -> CloudEvent:
    properties = {key: kept for key, kept in event.properties.items() if key != name}
    return replace(event, properties=properties if value is None else {**properties, name: value})


def _parsed(text: str, start: str) -> Any:
    if len(text) > LONGEST:
        raise Invalid(f"an expression has {LONGEST} characters at most, not {len(text)}")
    try:
        return _Meaning().transform(_parser(start).parse(text))
    except VisitError as error:
        raise error.orig_exc from None
    except UnexpectedInput as error:
        place = len(text) if isinstance(error, UnexpectedToken) and error.token.type == "$END" else error.pos_in_stream
        place = len(text) if place is None else place
        near = text[max(0, place) : place + 20] or "the end"
        raise Invalid(f"not understood at character {place + 1}, near {near!r}: {text!r}") from None


@cache
def _parser(start: str) -> Lark:
    return Lark(_GRAMMAR, start=start, parser="lalr", maybe_placeholders=True)


class _Meaning(Transformer[Token, Any]):
    """Each node becomes a function of an event; None is SQL's unknown."""

    @v_args(inline=True)
    def number(self, token: str) -> Evaluate:
        value = float(token) if any(c in token.lower() for c in ".e") else int(token)
        return lambda _: value

    @v_args(inline=True)
    def string(self, token: str) -> Evaluate:
        value = _unquoted(token)
        return lambda _: value

    def true(self, _: list[Any]) -> Evaluate:
        return lambda _: True

    def false(self, _: list[Any]) -> Evaluate:
        return lambda _: False

    def null(self, _: list[Any]) -> Evaluate:
        return lambda _: None

    @v_args(inline=True)
    def name(self, token: str) -> Evaluate:
        name = token.strip("[]")
        return lambda event: event.value(name)

    @v_args(inline=True)
    def minus(self, value: Evaluate) -> Evaluate:
        return lambda event: _calculated("-", 0, value(event))

    @v_args(inline=True)
    def calculate(self, left: Evaluate, sign: str, right: Evaluate) -> Evaluate:
        return lambda event: _calculated(str(sign), left(event), right(event))

    @v_args(inline=True)
    def compare(self, left: Evaluate, sign: str, right: Evaluate) -> Evaluate:
        return lambda event: _compared(str(sign), left(event), right(event))

    @v_args(inline=True)
    def is_null(self, value: Evaluate) -> Evaluate:
        return lambda event: value(event) is None

    @v_args(inline=True)
    def is_not_null(self, value: Evaluate) -> Evaluate:
        return lambda event: value(event) is not None

    @v_args(inline=True)
    def exists(self, token: str) -> Evaluate:
        name = token.strip("[]")
        return lambda event: event.value(name) is not None

    @v_args(inline=True)
    def is_in(self, value: Evaluate, *choices: Evaluate) -> Evaluate:
        return lambda event: _any(_compared("=", value(event), choice(event)) for choice in choices)

    @v_args(inline=True)
    def is_not_in(self, value: Evaluate, *choices: Evaluate) -> Evaluate:
        found: Evaluate = self.is_in(value, *choices)
        return lambda event: _not(found(event))

    @v_args(inline=True)
    def like(self, value: Evaluate, pattern: Evaluate, escape: str | None) -> Evaluate:
        sign = _escape(escape)
        return lambda event: _like(value(event), pattern(event), sign)

    @v_args(inline=True)
    def not_like(self, value: Evaluate, pattern: Evaluate, escape: str | None) -> Evaluate:
        found: Evaluate = self.like(value, pattern, escape)
        return lambda event: _not(found(event))

    @v_args(inline=True)
    def negate(self, value: Evaluate) -> Evaluate:
        return lambda event: _not(value(event))

    @v_args(inline=True)
    def both(self, left: Evaluate, right: Evaluate) -> Evaluate:
        return lambda event: _not(_any(_not(side(event)) for side in (left, right)))

    @v_args(inline=True)
    def either(self, left: Evaluate, right: Evaluate) -> Evaluate:
        return lambda event: _any(side(event) for side in (left, right))

    @v_args(inline=True)
    def set(self, token: str, value: Evaluate) -> Change:
        name = _property(token)
        return lambda event: (name, value(event))

    @v_args(inline=True)
    def remove(self, token: str) -> Change:
        name = _property(token)
        return lambda _: (name, None)

    def actions(self, changes: list[Change]) -> list[Change]:
        return changes


def _not(value: Value) -> Value:
    return not value if isinstance(value, bool) else None


def _any(values: Any) -> Value:
    """True if one is, unknown if none is and one is unknown, else False."""
    found = [value if isinstance(value, bool) else None for value in values]
    return True if True in found else None if None in found else False


def _compared(sign: str, left: Value, right: Value) -> Value:
    """Unknown for what is not there, or of another kind: a number is never more or less than a text."""
    if left is None or right is None or not _alike(left, right):
        return None
    if isinstance(left, bool) and sign not in ("=", "<>", "!="):
        return None
    return _COMPARE[sign](left, right)


def _calculated(sign: str, left: Value, right: Value) -> Value:
    if left is None or right is None or isinstance(left, bool) or isinstance(right, bool) or not _alike(left, right):
        return None
    if isinstance(left, str) and sign != "+":
        return None
    try:
        value: Value = _CALCULATE[sign](left, right)
    except (ZeroDivisionError, OverflowError):
        return None
    return value


def _alike(left: Value, right: Value) -> bool:
    kinds = (str, bool, (int, float))
    return any(isinstance(left, kind) and isinstance(right, kind) for kind in kinds)


def _like(value: Value, pattern: Value, escape: str) -> Value:
    if not isinstance(value, str) or not isinstance(pattern, str):
        return None
    return _fits(value, _signs(pattern, escape))


def _signs(pattern: str, escape: str) -> list[tuple[str, bool]]:
    """Each character, and whether it is a wildcard: % for any text, _ for any one character."""
    signs, place = [], 0
    while place < len(pattern):
        if escape and pattern[place] == escape and place + 1 < len(pattern):
            signs.append((pattern[place + 1], False))
            place += 2
        else:
            signs.append((pattern[place], pattern[place] in "%_"))
            place += 1
    return signs


def _fits(text: str, signs: list[tuple[str, bool]]) -> bool:
    """In time of text times pattern at most, whoever wrote the pattern."""
    at, sign, star, kept = 0, 0, -1, 0
    while at < len(text):
        if sign < len(signs) and signs[sign] == ("%", True):
            star, kept, sign = sign, at, sign + 1
        elif sign < len(signs) and (signs[sign] == ("_", True) or signs[sign] == (text[at], False)):
            at, sign = at + 1, sign + 1
        elif star >= 0:
            kept += 1
            at, sign = kept, star + 1
        else:
            return False
    return all(left == ("%", True) for left in signs[sign:])


def _unquoted(token: str) -> str:
    return token[1:-1].replace("''", "'")


def _escape(token: str | None) -> str:
    if token is None:
        return ""
    sign = _unquoted(token)
    if len(sign) != 1:
        raise Invalid(f"ESCAPE takes one character, not {sign!r}")
    return sign


def _property(token: str) -> str:
    scope, _, name = token.strip("[]").lower().rpartition(".")
    if scope not in ("", "user"):
        raise Invalid(f"only properties can be changed, not {token}")
    return check_name(name)
