type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };
interface ToolArgsMap {
  /** The arguments: needs at least one of a, b with c. */
  needs_one: { a?: string; b?: string; c?: string };
  /** The arguments: needs exactly one of a, b, not with a and b. */
  needs_one_of: { a?: string; b?: string };
  unions: {
    any_of?: string | number;
    one_of?: { kind: "a"; x?: string } | { kind: "b"; y?: number };
    nullable?: string | null;
    optional?: string | null;
    same?: string;
    wider?: string;
    numbers?: number;
    anything?: JsonValue;
    impossible?: never;
    not_given?: string;
    with_base?: { b: number; a: string } | { c: number; a: string };
  };
}
type ToolName = keyof ToolArgsMap;
type ToolOutputMap = { [N in ToolName]: JsonValue };
declare class ToolCallError extends Error { readonly toolName: string }
declare const tools: { readonly [N in ToolName]: (args: ToolArgsMap[N]) => Promise<ToolOutputMap[N]> };
