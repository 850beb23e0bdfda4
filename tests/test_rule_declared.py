"""A rule that is declared wrongly is refused where it is declared, and not when it first judges something."""

from __future__ import annotations

from typing import Any

import pytest

from graphlint.errors import InstallError
from graphlint.events import HostRead
from graphlint.registry import registry
from graphlint.rule import Rule, rule
from graphlint.types import Effect


def test_an_effect_is_one_of_four() -> None:
    declare = rule("XX101", on=HostRead, predicts="brakes")
    with pytest.raises(ValueError, match="an effect is one of breaks, stale, defeats, note, not 'brakes'"):
        declare(lambda event: None)


@pytest.mark.parametrize("kind", ["HostRead", int, None])
def test_a_rule_is_on_a_class_of_events(kind: Any) -> None:
    with pytest.raises(TypeError, match="`on` takes a class of events, not"):
        rule("XX101", on=kind, predicts="breaks")(lambda event: None)


def test_two_rules_of_one_code_are_refused_with_what_to_do() -> None:
    one = Rule("GL101", "host-read", HostRead, Effect.BREAKS, None, lambda event: None, "page")
    other = Rule("GL101", "own", HostRead, Effect.BREAKS, None, lambda event: None, "page")
    with pytest.raises(InstallError, match="both called `GL101`\n  give one of them a code and a name of its own"):
        registry([one, other])
