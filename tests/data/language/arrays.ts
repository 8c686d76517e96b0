type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };
interface ToolArgsMap {
  arrays: {
    list?: string[];
    any?: JsonValue[];
    of_unions?: (string | null)[];
    /** min items 2 */
    pair?: [string, number];
    /** min items 1 */
    at_least?: [string, (number)?, ...JsonValue[]];
    /** min items 2 */
    old?: [string, number];
    matrix?: number[][];
    objects?: { x: number }[];
    implied?: boolean[];
  };
}
type ToolName = keyof ToolArgsMap;
type ToolOutputMap = { [N in ToolName]: JsonValue };
declare class ToolCallError extends Error { readonly toolName: string }
declare const tools: { readonly [N in ToolName]: (args: ToolArgsMap[N]) => Promise<ToolOutputMap[N]> };
