type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };
interface ToolArgsMap {
  merged: { c?: boolean; a: string; both: string; b?: number };
  never: { x?: never };
  with_reference: { a: string; b: number };
}
type ToolName = keyof ToolArgsMap;
type ToolOutputMap = { [N in ToolName]: JsonValue };
declare class ToolCallError extends Error { readonly toolName: string }
declare const tools: { readonly [N in ToolName]: (args: ToolArgsMap[N]) => Promise<ToolOutputMap[N]> };
