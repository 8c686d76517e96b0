// Runs the cases of `tests/data/javascript/web.txt` in Node, and compares how they end.
//
//     node compare.mjs
//
// Results must be the same; of exceptions, the class must be. What differs on purpose is listed here, with the reason, and must
// differ. Each case has a process of its own, as cases replace built-ins.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

const DIFFERS = new Map([
  ["what is no base64 is refused", "Node words the last error in another way"],
  ["a signal times out", "the message of the reason is worded in another way"],
  ["a decoder may be fatal, keep the byte order mark, or go on in the middle of a character", "Node knows more encodings"],
  ["a global of other hosts that is not there is named with what to do instead", "Node has fetch"],
  ["modules are not there either", "a module of Node's has `require` neither, but says so differently"],
  ["nor is a process", "Node has one"],
  ["the globals can be replaced and are not enumerable", "Node has getters, and more globals"],
]);

const text = readFileSync(new URL("../data/javascript/web.txt", import.meta.url), "utf8");
const cases = text.replace(/^==== /, "").split("\n==== ").map((one) => {
  const name = one.slice(0, one.indexOf("\n"));
  const rest = one.slice(name.length + 1);
  const end = rest.indexOf("\n---- ");
  const endings = rest.slice(end + 1).split(/^---- /m).slice(1).map((part) => [part.slice(0, part.indexOf("\n")), part.slice(part.indexOf("\n") + 1)]);
  return { name, program: rest.slice(0, end), endings: new Map(endings) };
});

const RUN = `
  const AsyncFunction = (async () => {}).constructor;
  const { stdout } = process, stringify = JSON.stringify;
  const fail = (error) => { stdout.write(stringify({ threw: error?.name ?? typeof error })); process.reallyExit(0); };
  process.on("uncaughtException", fail);
  const done = (value) => { stdout.write(stringify({ value })); process.reallyExit(0); };
  console.log = () => {};
  let program = "";
  process.stdin.on("data", (part) => program += part);
  process.stdin.on("end", () => new AsyncFunction("'use strict';" + program)().then(done, fail));
`;

if (Number.parseInt(process.versions.node, 10) < 20) {
  console.log(`ABSENT: Node ${process.versions.node} lacks some of the globals; 20 has them`);
  process.exit(0);
}

let compared = 0;
const wrong = [];
for (const { name, program, endings } of cases) {
  const { stdout } = spawnSync(process.execPath, ["-e", RUN], { input: program, encoding: "utf8", timeout: 20_000 });
  const node = stdout ? JSON.parse(stdout) : {};
  const ours = endings.has("result")
    ? { value: JSON.parse(endings.get("result")) }
    : { threw: /^(\w+)(:|$)/.exec(endings.get("exception") ?? "")?.[1] };
  const same = JSON.stringify(node) === JSON.stringify(ours);
  if (same === DIFFERS.has(name)) wrong.push(`${name}\n  here: ${JSON.stringify(ours)}\n  node: ${JSON.stringify(node)}`);
  compared++;
}
for (const name of DIFFERS.keys()) if (!cases.some((one) => one.name === name)) wrong.push(`there is no case "${name}"`);
if (wrong.length) {
  console.error(wrong.join("\n"));
  process.exit(1);
}
console.log(`${compared - DIFFERS.size} cases end as in Node ${process.versions.node}, ${DIFFERS.size} differ on purpose`);
