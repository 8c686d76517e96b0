from typing import Any, Literal, Never, NotRequired, Protocol, TypedDict

class NeedsOneArgs(TypedDict):
    a: NotRequired[str]
    b: NotRequired[str]
    c: NotRequired[str]

class NeedsOneOfArgs(TypedDict):
    a: NotRequired[str]
    b: NotRequired[str]

class UnionsArgsOneOf(TypedDict):
    kind: Literal["a"]
    x: NotRequired[str]

class UnionsArgsOneOf2(TypedDict):
    kind: Literal["b"]
    y: NotRequired[int]

class UnionsArgsWithBase(TypedDict):
    b: int
    a: str

class UnionsArgsWithBase2(TypedDict):
    c: int
    a: str

class UnionsArgs(TypedDict):
    any_of: NotRequired[str | int]
    one_of: NotRequired[UnionsArgsOneOf | UnionsArgsOneOf2]
    nullable: NotRequired[str | None]
    optional: NotRequired[str | None]
    same: NotRequired[str]
    wider: NotRequired[str]
    numbers: NotRequired[float]
    anything: NotRequired[Any]
    impossible: NotRequired[Never]
    not_given: NotRequired[str]
    with_base: NotRequired[UnionsArgsWithBase | UnionsArgsWithBase2]

class ToolCallError(Exception):
    toolName: str

class Tools(Protocol):
    async def needs_one(self, args: NeedsOneArgs, /) -> Any:
        """The arguments: needs at least one of a, b with c."""
    async def needs_one_of(self, args: NeedsOneOfArgs, /) -> Any:
        """The arguments: needs exactly one of a, b, not with a and b."""
    async def unions(self, args: UnionsArgs, /) -> Any:
        ...

tools: Tools
