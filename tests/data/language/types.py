from typing import Any, Literal, Never, NotRequired, Protocol, TypedDict

class PlainArgs(TypedDict):
    s: str
    i: int
    n: NotRequired[float]
    b: NotRequired[bool]
    z: NotRequired[None]
    any: NotRequired[Any]
    either: NotRequired[str | int | None]

class ToolCallError(Exception):
    toolName: str

class Tools(Protocol):
    async def plain(self, args: PlainArgs, /) -> str | None:
        """Every plain type."""
        ...

tools: Tools
