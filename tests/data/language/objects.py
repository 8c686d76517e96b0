from typing import Any, Literal, Never, NotRequired, Protocol, TypedDict

class ClosedArgs(TypedDict):
    a: str

class EmptyClosedArgs(TypedDict):
    pass

class ImpliedArgs(TypedDict):
    a: NotRequired[str]

class NestedArgsAB(TypedDict):
    c: str

class NestedArgsA(TypedDict):
    b: NestedArgsAB

class NestedArgs(TypedDict):
    a: NestedArgsA

class OpenArgs(TypedDict):
    a: str

class RequiredOnlyArgs(TypedDict):
    b: Any
    a: Any

class RestArgs(TypedDict):
    a: str

class ToolCallError(Exception):
    toolName: str

class Tools(Protocol):
    async def closed(self, args: ClosedArgs, /) -> Any:
        ...
    async def empty_closed(self, args: EmptyClosedArgs, /) -> Any:
        ...
    async def empty_open(self, args: dict[str, Any], /) -> Any:
        ...
    async def implied(self, args: ImpliedArgs, /) -> Any:
        ...
    async def map(self, args: dict[str, list[str]], /) -> Any:
        ...
    async def nested(self, args: NestedArgs, /) -> Any:
        ...
    async def open(self, args: OpenArgs, /) -> Any:
        ...
    async def patterns(self, args: dict[str, int | str], /) -> Any:
        ...
    async def required_only(self, args: RequiredOnlyArgs, /) -> Any:
        ...
    async def rest(self, args: RestArgs, /) -> Any:
        ...

tools: Tools
