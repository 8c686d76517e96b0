type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };
interface ToolArgsMap {
  any_type: JsonValue;
  array: JsonValue;
  beyond_types: { a?: string };
  mixed_types: JsonValue;
  no: never;
  nothing: JsonValue;
  number: JsonValue;
  text: JsonValue;
  unknown_type: JsonValue;
  wrong_keywords: JsonValue;
  yes: JsonValue;
}
type ToolName = keyof ToolArgsMap;
type ToolOutputMap = { [N in ToolName]: JsonValue };
declare class ToolCallError extends Error { readonly toolName: string }
declare const tools: { readonly [N in ToolName]: (args: ToolArgsMap[N]) => Promise<ToolOutputMap[N]> };
