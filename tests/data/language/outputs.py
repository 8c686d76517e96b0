from typing import Any, Literal, Never, NotRequired, Protocol, TypedDict

class SharedNamesP(TypedDict):
    x: NotRequired[float]

class SharedNamesArgs(TypedDict):
    a: NotRequired[SharedNamesP]
    b: NotRequired[SharedNamesP]

class SharedNamesP2(TypedDict):
    y: NotRequired[str]

class SharedNamesOutput(TypedDict):
    a: NotRequired[SharedNamesP2]
    b: NotRequired[SharedNamesP2]

class TypedOutput(TypedDict):
    n: int

class ToolCallError(Exception):
    toolName: str

class Tools(Protocol):
    async def shared_names(self, args: SharedNamesArgs, /) -> SharedNamesOutput:
        ...
    async def typed(self, args: dict[str, Any], /) -> TypedOutput:
        ...
    async def untyped(self, args: dict[str, Any], /) -> Any:
        ...

tools: Tools
