type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };
type EndlessA = JsonValue;
type ListOfItselfList = null | ListOfItselfList[];
type MutualA = { b?: MutualB };
type MutualB = { a?: MutualA };
type RecursiveNode = { name: string; children?: RecursiveNode[] };
type RootRoot = { again?: RootRoot };
/** A point. */
type SharedPoint = { x: number; y: number };
interface ToolArgsMap {
  by_pointer: { a?: { "b~/c"?: string }; same?: string };
  elsewhere: { a?: JsonValue; b?: JsonValue; c?: JsonValue; d?: JsonValue };
  endless: EndlessA;
  list_of_itself: ListOfItselfList;
  mutual: MutualA;
  recursive: { tree?: RecursiveNode };
  root: RootRoot;
  shared: { from: SharedPoint; to?: SharedPoint; once?: { z?: string }; word?: string };
}
type ToolName = keyof ToolArgsMap;
type ToolOutputMap = { [N in ToolName]: JsonValue };
declare class ToolCallError extends Error { readonly toolName: string }
declare const tools: { readonly [N in ToolName]: (args: ToolArgsMap[N]) => Promise<ToolOutputMap[N]> };
