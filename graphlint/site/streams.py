"""Side streams in a region: forked from the captured stream, and joined to it again."""

from __future__ import annotations

from collections.abc import Iterator

from graphlint.events import Event
from graphlint.site.acts import Act, Verb
from graphlint.site.construct import argument, constant
from graphlint.site.story import Captured, Story, region, tell
from graphlint.site.things import Kind, Thing
from graphlint.site_events import InputRaced, OutsideEvent, StreamNotForked, StreamNotJoined
from graphlint.types import Region

Told = Iterator[tuple[Region, Event]]


def forked(story: Story) -> Told:
    """Blocks on a side stream that is not tied to the captured one."""
    for captured in story.captures:
        for index, act in story.between(captured.begin, captured.end, Verb.ENTER):
            stream = act.thing.base if act.thing.kind is Kind.STREAM_BLOCK else None
            if stream is None or not _is_side(stream):
                continue
            end = left(story, captured, index, act.thing)
            if not works(story, index, end):
                continue
            if not _waits(story, captured, stream, index, end):
                yield region(captured, story.acts), tell(StreamNotForked, act, stream=act.text)
            elif not _joined(story, captured, stream, index, end) and not _ends_in_collective(story, index, end):
                yield region(captured, story.acts), tell(StreamNotJoined, act, stream=act.text)


def _is_side(stream: Thing) -> bool:
    return stream.kind is Kind.STREAM and not stream.name.endswith(("current_stream", "default_stream"))


def left(story: Story, captured: Captured, index: int, block: Thing) -> int:
    found = (at for at, act in story.between(index, captured.end, Verb.LEAVE) if act.thing is block)
    return next(found, captured.end)


def works(story: Story, index: int, left: int) -> bool:
    return any(
        act.verb is Verb.READ or act.thing.kind is Kind.MODULE
        for _, act in story.between(index, left, Verb.READ, Verb.CALL)
    )


def _ends_in_collective(story: Story, index: int, left: int) -> bool:
    """Whether a block's last work is a collective: NCCL leaves nothing open behind it, and no capture was refused."""
    every = story.between(index, left, Verb.READ, Verb.CALL, Verb.WRITE)
    work = [act for _, act in every if act.thing.kind is not Kind.OUTSIDE]
    return bool(work) and work[-1].verb is Verb.READ and work[-1].name.startswith("torch.distributed.")


def _waits(story: Story, captured: Captured, stream: Thing, index: int, left: int) -> bool:
    for at, act in story.between(captured.begin, left, Verb.METHOD):
        if act.thing is stream and act.name in ("wait_stream", "wait_event"):
            return True
        if act.name == "wait" and act.thing.kind in (Kind.EVENT, Kind.UNKNOWN) and (at > index or act.other is stream):
            return True
        if at > index and act.thing.kind is Kind.STREAM and act.name in ("wait_stream", "wait_event"):
            return True
    return False


def _joined(story: Story, captured: Captured, stream: Thing, index: int, left: int) -> bool:
    recorded = {id(act.thing) for _, act in story.between(index, captured.end, Verb.METHOD) if act.name == "record"}
    made = any(
        act.name == "record_event" and act.thing is stream for _, act in story.between(index, captured.end, Verb.METHOD)
    )
    for _, act in story.between(left, captured.end, Verb.METHOD):
        if act.name == "wait_stream" and (
            act.other is stream or (act.other is not None and act.other.kind is not Kind.STREAM)
        ):
            return True
        if act.name == "wait" and (id(act.thing) in recorded or made):
            return True
        if act.name == "wait_event" and (made or (act.other is not None and id(act.other) in recorded)):
            return True
    return False


def outside(story: Story) -> Told:
    """Waits for events that were recorded before the capture."""
    for captured in story.captures:
        for index, act in story.between(captured.begin, captured.end, Verb.METHOD):
            if _waits_outside(story, captured, act, index):
                yield region(captured, story.acts), tell(OutsideEvent, act, event=act.text, awaited=STRANGER)
            event = act.thing if act.name == "wait" else act.other if act.name == "wait_event" else None
            if event is None or event.kind is not Kind.EVENT or constant(argument(event, "external")) is True:
                continue
            waiting = act.thing if act.name == "wait_event" else act.other
            if waiting is not None and _is_side(waiting) and not _waits(story, captured, waiting, captured.begin, index):
                continue
            before = any(_records(each, event) for each in story.acts[: captured.begin])
            inside = any(_records(each, event) for each in story.acts[captured.begin : index])
            if before and not inside:
                yield region(captured, story.acts), tell(OutsideEvent, act, event=act.text)


def raced(story: Story) -> Told:
    """Inputs that are filled on a side stream, and a replay that does not wait for it."""
    for captured in story.captures:
        for index, act in story.between(captured.end, len(story.acts), Verb.WRITE):
            stream = stream_of(act)
            if stream is None or id(act.thing.owner) not in captured.reads:
                continue
            replay = story.next_replay(captured, index)
            if replay is None or stream_of(story.acts[replay]) is not None:
                continue
            if not any(orders(each) for _, each in story.between(index, replay, Verb.METHOD, Verb.CALL)):
                yield region(captured, story.acts), tell(InputRaced, act, target=act.text)


def stream_of(act: Act) -> Thing | None:
    """The side stream of the innermost block that an act stands in."""
    blocks = (layer.thing for layer in act.layers if layer.thing is not None and layer.thing.kind is Kind.STREAM_BLOCK)
    stream = next((block.base for block in blocks), None)
    return stream if stream is not None and _is_side(stream) else None


def orders(act: Act) -> bool:
    """Whether an act makes a stream or the host wait for something, or may."""
    name = act.name if act.verb is Verb.METHOD else act.thing.name
    return name.startswith("wait") or "synchronize" in name or (act.verb is Verb.CALL and act.thing.kind is Kind.UNKNOWN)


STRANGER = "a stream that does not wait for the captured one"


def _waits_outside(story: Story, captured: Captured, act: Act, index: int) -> bool:
    """Whether the captured stream waits for one that nothing of the capture has been given to."""
    stream = act.other
    if act.name != "wait_stream" or stream is None or stream.kind is not Kind.STREAM or _is_side(act.thing):
        return False
    if stream.name.endswith("current_stream") or stream.is_argument or act.thing.kind is not Kind.STREAM:
        return False
    if any(layer.thing is not None and layer.thing.kind is Kind.STREAM_BLOCK for layer in act.layers):
        return False
    return not _waits(story, captured, stream, captured.begin, index)


def _records(act: Act, event: Thing) -> bool:
    if act.verb is not Verb.METHOD:
        return False
    return (act.name == "record" and act.thing is event) or (act.name == "record_event" and act.other is event)
