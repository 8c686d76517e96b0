from typing import Any, Literal, Never, NotRequired, Protocol, TypedDict

ByPointerArgsA = TypedDict("ByPointerArgsA", {
    "b~/c": NotRequired[str],
})

class ByPointerArgs(TypedDict):
    a: NotRequired[ByPointerArgsA]
    same: NotRequired[str]

class ElsewhereArgs(TypedDict):
    a: NotRequired[Any]
    b: NotRequired[Any]
    c: NotRequired[Any]
    d: NotRequired[Any]

type EndlessA = Any

type ListOfItselfList = list[ListOfItselfList] | None

class MutualB(TypedDict):
    a: NotRequired[MutualA]

class MutualA(TypedDict):
    b: NotRequired[MutualB]

class RecursiveNode(TypedDict):
    name: str
    children: NotRequired[list[RecursiveNode]]

class RecursiveArgs(TypedDict):
    tree: NotRequired[RecursiveNode]

class RootRoot(TypedDict):
    again: NotRequired[RootRoot]

class SharedPoint(TypedDict):
    x: float
    y: float

class SharedArgsOnce(TypedDict):
    z: NotRequired[str]

SharedArgs = TypedDict("SharedArgs", {
    "from": SharedPoint,
    "to": NotRequired[SharedPoint],
    "once": NotRequired[SharedArgsOnce],
    "word": NotRequired[str],
})

class ToolCallError(Exception):
    toolName: str

class Tools(Protocol):
    async def by_pointer(self, args: ByPointerArgs, /) -> Any:
        ...
    async def elsewhere(self, args: ElsewhereArgs, /) -> Any:
        ...
    async def endless(self, args: EndlessA, /) -> Any:
        ...
    async def list_of_itself(self, args: ListOfItselfList, /) -> Any:
        ...
    async def mutual(self, args: MutualA, /) -> Any:
        ...
    async def recursive(self, args: RecursiveArgs, /) -> Any:
        ...
    async def root(self, args: RootRoot, /) -> Any:
        ...
    async def shared(self, args: SharedArgs, /) -> Any:
        ...

tools: Tools
