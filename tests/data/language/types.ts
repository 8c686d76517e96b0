type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };
interface ToolArgsMap {
  /** Every plain type. */
  plain: {
    s: string;
    i: number;
    n?: number;
    b?: boolean;
    z?: null;
    any?: JsonValue;
    either?: string | number | null;
  };
}
type ToolName = keyof ToolArgsMap;
interface ToolOutputMap {
  plain: string | null;
}
declare class ToolCallError extends Error { readonly toolName: string }
declare const tools: { readonly [N in ToolName]: (args: ToolArgsMap[N]) => Promise<ToolOutputMap[N]> };
