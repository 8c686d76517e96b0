type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };
type SharedNamesP = { x?: number };
type SharedNamesOutputP = { y?: string };
interface ToolArgsMap {
  shared_names: { a?: SharedNamesP; b?: SharedNamesP };
  typed: { [key: string]: JsonValue };
  untyped: { [key: string]: JsonValue };
}
type ToolName = keyof ToolArgsMap;
interface TypedOutputs {
  shared_names: { a?: SharedNamesOutputP; b?: SharedNamesOutputP };
  typed: { n: number };
}
type ToolOutputMap = { [N in ToolName]: N extends keyof TypedOutputs ? TypedOutputs[N] : JsonValue };
declare class ToolCallError extends Error { readonly toolName: string }
declare const tools: { readonly [N in ToolName]: (args: ToolArgsMap[N]) => Promise<ToolOutputMap[N]> };
