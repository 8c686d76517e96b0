from typing import Any, Literal, Never, NotRequired, Protocol, TypedDict

class ToolCallError(Exception):
    toolName: str

class Tools(Protocol):
    pass

tools: Tools
