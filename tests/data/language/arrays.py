from typing import Any, Literal, Never, NotRequired, Protocol, TypedDict

class ArraysArgsObjectsItem(TypedDict):
    x: float

ArraysArgs = TypedDict("ArraysArgs", {
    "list": NotRequired[list[str]],
    "any": NotRequired[list[Any]],
    "of_unions": NotRequired[list[str | None]],
    "pair": NotRequired[list[str | int]],  # min items 2
    "at_least": NotRequired[list[Any]],  # min items 1
    "old": NotRequired[list[str | int]],  # min items 2
    "matrix": NotRequired[list[list[float]]],
    "objects": NotRequired[list[ArraysArgsObjectsItem]],
    "implied": NotRequired[list[bool]],
})

class ToolCallError(Exception):
    toolName: str

class Tools(Protocol):
    async def arrays(self, args: ArraysArgs, /) -> Any:
        ...

tools: Tools
