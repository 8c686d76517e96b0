type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };
interface ToolArgsMap {
  closed: { a: string };
  empty_closed: Record<string, never>;
  empty_open: { [key: string]: JsonValue };
  implied: { a?: string };
  map: Record<string, string[]>;
  nested: { a: { b: { c: string } } };
  open: { a: string; [key: string]: unknown };
  patterns: Record<string, number | string>;
  required_only: { b: JsonValue; a: JsonValue };
  rest: { a: string; [key: string]: unknown };
}
type ToolName = keyof ToolArgsMap;
type ToolOutputMap = { [N in ToolName]: JsonValue };
declare class ToolCallError extends Error { readonly toolName: string }
declare const tools: { readonly [N in ToolName]: (args: ToolArgsMap[N]) => Promise<ToolOutputMap[N]> };
