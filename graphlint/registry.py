"""Which rules there are, which events each one judges, and what becomes of its findings.

A rule is registered by lying in a pack.  It is asked about every event of the class it names and of derived classes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import field
from pathlib import Path
from types import ModuleType

from graphlint import packs
from graphlint.errors import ConfigError, InstallError, UsageError, near
from graphlint.events import Event, LimitReached
from graphlint.notices import INTERNAL, LIMIT, NOTICES, Notice, internal, notice, raised
from graphlint.record import Record, frozen, replaced
from graphlint.rule import Rule
from graphlint.types import OURS, Confidence, Effect, Finding

CODE = re.compile(r"[A-Z]{2,4}\d{3}")
ORDER = (Effect.NOTE, Effect.DEFEATS, Effect.STALE, Effect.BREAKS)


@frozen
class Registry(Record):
    """The rules of one run, sorted by code."""

    rules: tuple[Rule, ...]
    _asked: dict[type[Event], tuple[Rule, ...]] = field(default_factory=dict)

    def asked(self, kind: type[Event]) -> tuple[Rule, ...]:
        """The rules that judge events of a class."""
        if kind not in self._asked:
            self._asked[kind] = tuple(rule for rule in self.rules if issubclass(kind, rule.on))
        return self._asked[kind]

    def judge(self, events: Iterable[Event], region: str) -> list[Finding]:
        """The findings of one region's events, complete but for their fingerprints."""
        found: list[Finding] = []
        for event in events:
            if isinstance(event, LimitReached):
                found.append(_limit(event, region))
            for rule in self.asked(type(event)):
                judged = _judged(rule, event, region)
                if judged is not None:
                    found.append(judged)
        return found

    @property
    def pages(self) -> tuple[Rule | Notice, ...]:
        """Everything that has a code, sorted by it."""
        everything: list[Rule | Notice] = [*self.rules, *NOTICES]
        return tuple(sorted(everything, key=lambda each: each.code))

    @property
    def words(self) -> dict[str, str]:
        """Every code and every name, with the code that is meant."""
        return {word: page.code for page in self.pages for word in (page.code, page.name)}

    def page(self, word: str) -> Rule | Notice:
        """The rule or notice with a code or name; raises `UsageError` with near misses."""
        wanted = word.strip().lower().replace("_", "-")
        for each in self.pages:
            if wanted in (each.code.lower(), each.name):
                return each
        raise UsageError(f"there is no rule `{word}`", self.hint(word))

    def family(self, prefix: str) -> tuple[Rule | Notice, ...]:
        """The pages whose codes begin with a prefix of at least two letters, none for a whole code."""
        wanted = prefix.strip().upper()
        found = tuple(each for each in self.pages if each.code.startswith(wanted) and each.code != wanted)
        return found if len(wanted) > 1 else ()

    def hint(self, word: str) -> str:
        """What to type instead of a word that is no code and no name."""
        wanted = word.strip().upper()
        if wanted != word and any(each.code.startswith(wanted) for each in self.pages) and len(wanted) > 1:
            return f"did you mean `{wanted}`?"
        if CODE.fullmatch(wanted):
            # Every other code of the family is as near as the next: to name three of them would be noise.
            prefix = next((wanted[:-cut] for cut in (2, 3) if self.family(wanted[:-cut])), "")
            return f"`graphlint explain {prefix}` lists its neighbours" if prefix else "`graphlint rules` lists them all"
        codes = [each.code for each in self.pages]
        # One wrong character, such as the letter O, is nearer than two that stand elsewhere.
        code = near(wanted, [each for each in codes if _is_one_off(wanted, each)] or codes, cutoff=0.75)
        name = near(wanted.lower().replace("_", "-"), [each.name for each in self.pages])
        return code or name or "`graphlint rules` lists them all"


def _is_one_off(word: str, code: str) -> bool:
    return len(word) == len(code) and sum(one != other for one, other in zip(word, code)) == 1


def load(project: Sequence[str] = (), root: Path = Path("."), chosen: Sequence[str] = ()) -> Registry:
    """The rules of all installed packs, or of the chosen ones, and of the project's own files.

    Raises `InstallError`, and `ConfigError` for a pack that is not installed.
    """
    installed = packs.declared()
    for name in chosen:
        if name not in [pack.name for pack in installed]:
            known = [pack.name for pack in installed]
            raise ConfigError(f"no rule pack `{name}` is installed", near(name, known) or f"installed: {', '.join(known)}")
    wanted = [pack for pack in installed if not chosen or pack.name in chosen]
    found = [rule for pack in wanted for module in packs.modules(pack) for rule in declared(module)]
    if not found:
        raise InstallError("no rule is installed", packs.REINSTALL)
    for name in project:
        own = [rule for module in packs.named(name, root) for rule in declared(module)]
        if not own:
            raise ConfigError(f"`{name}`, which `rules` names, holds no rule", "`@rule(...)` above a function declares one")
        found += own
    return registry(found)


def registry(rules: Iterable[Rule]) -> Registry:
    """Sort rules by code and refuse two with one code or one name."""
    seen: dict[str, Rule] = {}
    for rule in rules:
        if not CODE.fullmatch(rule.code):
            raise InstallError(
                f"`{rule.code}` of rule `{rule.name}` is no code",
                "a code is two to four capital letters and three digits, such as `ACME101`",
            )
        for word in (rule.code, rule.name):
            if word in seen and seen[word] is not rule:
                both = f"the rules `{seen[word].name}` and `{rule.name}` are both called `{word}`"
                raise InstallError(both, "give one of them a code and a name of its own")
            seen[word] = rule
    return Registry(tuple(sorted(set(seen.values()), key=lambda rule: rule.code)))


def declared(module: ModuleType) -> list[Rule]:
    """The rules that a module declares itself; what it imports is not counted."""
    own = (each for each in vars(module).values() if getattr(each, "__module__", None) == module.__name__)
    return [rule for each in own if isinstance(rule := getattr(each, "rule", None), Rule)]


def _judged(rule: Rule, event: Event, region: str) -> Finding | None:
    try:
        found = rule.judge(event)
        if found is not None and not isinstance(found, Finding):
            raise TypeError(f"a rule gives a finding or None, not {type(found).__name__}")
        return None if found is None else completed(rule, found, region)
    except Exception as error:
        return replaced(_failed(rule, error, event), region=region)


def _failed(rule: Rule, error: Exception, event: Event) -> Finding:
    """What is said of a rule that raises; one of another pack is for its authors to mend."""
    if rule.code.startswith(OURS):
        return internal(error, event.span, f"rule `{rule.name}` judged this")
    mend = "mend the rule, or leave it out of `rules` or `packs`"
    return notice(INTERNAL, event.span, f"rule `{rule.name}` failed here: {raised(error)}", mend)


def completed(rule: Rule, found: Finding, region: str) -> Finding | None:
    """Fill in what a rule need not say; None when no target that is live has an effect."""
    predicted = {"graph": rule.predicts, "compile": rule.compile}
    effects = tuple((name, effect) for name, _ in found.effects if (effect := predicted[name]) is not None)
    if not effects:
        return None
    return replaced(found, code=rule.code, rule=rule.name, effect=effects[0][1], effects=effects, region=region)


def _limit(event: LimitReached, region: str) -> Finding:
    told = notice(LIMIT, event.span, f"the analysis stopped here: {event.limit}")
    return replaced(told, region=region, trail=event.trail, confidence=Confidence.POSSIBLE)


def worst(effects: Iterable[Effect]) -> Effect:
    """The gravest of some effects; "note" for none."""
    return max(effects, key=ORDER.index, default=Effect.NOTE)


def is_chosen(rule: str, name: str, select: Sequence[str], ignore: Sequence[str]) -> bool:
    """Whether selectors (codes, prefixes of codes, names) keep a rule; the longer selector wins, then `ignore`."""
    chosen = _reach(rule, name, select) if select else 0
    return chosen is not None and chosen > (-1 if (ignored := _reach(rule, name, ignore)) is None else ignored)


def _reach(code: str, name: str, selectors: Sequence[str]) -> int | None:
    lengths = [len(code) if each == name else len(each) for each in selectors if each == name or code.startswith(each)]
    return max(lengths, default=None)
