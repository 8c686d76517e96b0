// Judges the declarations of tools by the compilers of their languages.
//
//     node check.mjs HOTCELL [TOOLS.json]
//
// For the definitions in TOOLS.json (by default those of the tests) and for schemas made at random, the declarations must parse and
// type-check; for each definition a sample of its arguments must be accepted, and mutated ones must not. The expected texts of the
// tests are checked too. Prints what it counted; fails on the first language with an error.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const hotcell = resolve(process.argv[2]);
const file = resolve(process.argv[3] ?? join(here, "../data/mcp-tools.json"));
const golden = join(here, "../data/language");
const work = join(here, "target");
rmSync(work, { recursive: true, force: true });
mkdirSync(work);

// Names that several servers use get a number.
const definitions = [];
const seen = new Map();
for (const tool of JSON.parse(readFileSync(file, "utf8")).tools) {
  const count = (seen.get(tool.name) ?? 0) + 1;
  seen.set(tool.name, count);
  definitions.push({ ...tool, name: count > 1 ? `${tool.name}_${count}` : tool.name });
}

// --- schemas at random ------------------------------------------------------------------------------------------------

let state = 20261201;
const random = (below) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
};
const pick = (list) => list[random(list.length)];
const WORDS = ["type", "properties", "items", "anyOf", "allOf", "oneOf", "enum", "const", "$ref", "$defs", "required",
  "additionalProperties", "not", "prefixItems", "patternProperties", "nullable", "description", "default", "a", "__x", "class",
  "*/", '"""', "\\", "\u2028", "路径", "str", "None", "\u0000"];
const LEAVES = [null, true, false, 0, 7, 2.5, -1, "string", "object", "array", "integer", "null", "number", "boolean", "#",
  "#/$defs/a", "#/properties/a", "*/", '"""', "\n", "`````", "x"];
const anything = (depth) => {
  if (depth === 0 || random(4) === 0) return pick(LEAVES);
  if (random(3) === 0) return Array.from({ length: random(5) }, () => anything(depth - 1));
  return Object.fromEntries(Array.from({ length: random(6) }, () => [pick(WORDS), anything(depth - 1)]));
};
const odd = Array.from({ length: 400 }, (_, n) => ({
  name: `odd_${n}`,
  description: pick(LEAVES) + "",
  inputSchema: anything(5),
  ...(random(2) ? { outputSchema: anything(4) } : {}),
}));

// --- samples of arguments ---------------------------------------------------------------------------------------------

// A value that a schema admits; `undefined` where that is not plain.
const sample = (schema, root, depth = 0) => {
  if (depth > 6 || schema === false) return undefined;
  if (schema === true || schema === null || typeof schema !== "object") return "anything";
  if (schema.$ref) {
    const target = schema.$ref.slice(2).split("/").reduce((at, key) => at?.[key.replace(/~1/g, "/").replace(/~0/g, "~")], root);
    return sample(target ?? true, root, depth + 1);
  }
  if ("const" in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const branches = schema.anyOf ?? schema.oneOf;
  if (branches && !schema.type) return branches.map((one) => sample(one, root, depth + 1)).find((one) => one !== undefined);
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case "string": return "text";
    case "integer": return 3;
    case "number": return 1.5;
    case "boolean": return true;
    case "null": return null;
    case "array": {
      const items = Array.isArray(schema.items) ? schema.items : schema.prefixItems;
      if (items) return items.map((item) => sample(item, root, depth + 1));
      const item = sample(schema.items ?? true, root, depth + 1);
      return item === undefined ? [] : [item];
    }
    case "object":
    case undefined: {
      if (!schema.properties && schema.type === undefined) return "anything";
      const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => [name, sample(field, root, depth + 1)]);
      const given = Object.fromEntries(fields.filter(([, value]) => value !== undefined));
      return (schema.required ?? []).every((name) => name in given) ? given : undefined;
    }
    default: return undefined;
  }
};
const isPlainObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
// Arguments that break a schema in a way that a type can say: a required field is missing, a field is of the wrong type.
const WRONG = { string: 7, integer: "no", number: "no", boolean: "no", array: true, object: 7 };
const mutations = (schema, good) => {
  const bad = [];
  for (const name of schema.required ?? []) {
    if (!(name in good)) continue;
    const { [name]: _, ...rest } = good;
    bad.push(rest);
    break;
  }
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    if (typeof field !== "object" || typeof field.type !== "string" || !(field.type in WRONG) || !(name in good)) continue;
    bad.push({ ...good, [name]: WRONG[field.type] });
    break;
  }
  return bad;
};
const calls = definitions.flatMap(({ name, inputSchema }) => {
  const good = sample(inputSchema, inputSchema);
  if (!isPlainObject(good)) return [];
  return [{ name, good, bad: mutations(inputSchema, good) }];
});
const accepted = calls.length;
const refused = calls.reduce((sum, { bad }) => sum + bad.length, 0);

// --- the languages ------------------------------------------------------------------------------------------------------

const sdk = (language, tools, name) => {
  const path = join(work, `${name}.json`);
  writeFileSync(path, JSON.stringify({ tools }));
  const arguments_ = ["sdk", "--language", language, "--tools", path, "--budget", "64MiB"];
  const text = execFileSync(hotcell, arguments_, { encoding: "utf8", maxBuffer: 1 << 28 });
  const [, fence] = /\n(`{3,})\w+\n/.exec(text);
  const from = text.indexOf(`\n${fence}${language}\n`) + fence.length + language.length + 2;
  return text.slice(from, text.lastIndexOf(fence));
};
const judge = (language, command, args) => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: work, encoding: "utf8" });
  if (status !== 0) {
    console.error(`${language}:\n${stdout.slice(0, 4000)}${stderr.slice(0, 4000)}`);
    process.exit(1);
  }
};
const bin = (name) => join(here, "node_modules/.bin", name);
const goldens = (ending) => readdirSync(golden).filter((name) => name.endsWith(ending));

// TypeScript: a line that must not compile says so, and the compiler says where it does.
const typescript = (value) => JSON.stringify(value).replace(/[\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16)}`);
const tsCalls = calls.map(({ name, good, bad }) => [
  `tools[${typescript(name)}](${typescript(good)});`,
  ...bad.map((one) => `// @ts-expect-error\ntools[${typescript(name)}](${typescript(one)});`),
].join("\n"));
writeFileSync(join(work, "tools.ts"), `${sdk("typescript", definitions, "tools")}${tsCalls.join("\n")}\nexport {};\n`);
writeFileSync(join(work, "odd.ts"), `${sdk("typescript", odd, "odd")}export {};\n`);
for (const name of goldens(".ts")) writeFileSync(join(work, `golden-${name}`), `${readFileSync(join(golden, name))}export {};\n`);
const ts = readdirSync(work).filter((name) => name.endsWith(".ts"));
judge("typescript", bin("tsc"), ["--strict", "--noEmit", "--target", "es2022", "--lib", "es2022", ...ts]);
console.log(`typescript: ${definitions.length} definitions, ${accepted} calls accepted, ${refused} refused, ${odd.length} odd ` +
  `schemas, ${goldens(".ts").length} expected texts`);

// Python: the same, with pyright's comments.
const python = (value) => {
  if (value === null) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  if (isPlainObject(value)) return `{${Object.entries(value).map(([k, v]) => `${JSON.stringify(k)}: ${python(v)}`).join(", ")}}`;
  return JSON.stringify(value);
};
const isAttribute = (text, name) => text.includes(`    async def ${name}(self, args: `);
const pyText = sdk("python", definitions, "tools");
const pyCalls = calls.filter(({ name }) => isAttribute(pyText, name)).map(({ name, good, bad }) => [
  `    await tools.${name}(${python(good)})`,
  ...bad.map((one) => `    await tools.${name}(${python(one)})  # pyright: ignore`),
].join("\n"));
const directives = "# pyright: reportUnnecessaryTypeIgnoreComment=error, reportUnusedExpression=false\n";
writeFileSync(join(work, "tools.py"), `${directives}${pyText}\nasync def calls() -> None:\n${pyCalls.join("\n")}\n`);
writeFileSync(join(work, "odd.py"), sdk("python", odd, "odd"));
for (const name of goldens(".py")) writeFileSync(join(work, `golden_${name}`), readFileSync(join(golden, name)));
writeFileSync(join(work, "pyrightconfig.json"), JSON.stringify({ pythonVersion: "3.14", typeCheckingMode: "standard" }));
judge("python", bin("pyright"), []);
console.log(`python: ${definitions.length} definitions, ${pyCalls.length} tools called, ${odd.length} odd schemas, ` +
  `${goldens(".py").length} expected texts`);
