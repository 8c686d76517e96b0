from typing import Any, Literal, Never, NotRequired, Protocol, TypedDict

class MergedArgs(TypedDict):
    c: NotRequired[bool]
    a: str
    both: str
    b: NotRequired[int]

class NeverArgs(TypedDict):
    x: NotRequired[Never]

class WithReferenceArgs(TypedDict):
    a: str
    b: int

class ToolCallError(Exception):
    toolName: str

class Tools(Protocol):
    async def merged(self, args: MergedArgs, /) -> Any:
        ...
    async def never(self, args: NeverArgs, /) -> Any:
        ...
    async def with_reference(self, args: WithReferenceArgs, /) -> Any:
        ...

tools: Tools
