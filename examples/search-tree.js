// Walks a tree, searches it and says what is in it. Works on any directory; CI runs it over the guest contract:
//
//     hotcell run examples/search-tree.js --dir tree=wit
//
// The program does not know the names of the directories it was granted: the empty path lists them.

const { entries, skipped, truncated } = await tools.fs_list({ path: "", recursive: true, limit: 10_000 });
if (truncated || skipped.length > 0) console.warn("the walk is incomplete:", { truncated, skipped: skipped.length });
const granted = entries.filter((entry) => entry.access).map((entry) => entry.path);
const paths = entries.filter((entry) => entry.kind === "file").map((entry) => entry.path);

const [texts, functions, limits] = await Promise.all([
  Promise.all(paths.map((path) => tools.fs_read({ path }))),
  search("\\bfunc\\("),
  search("`[a-z]+(-[a-z]+)+`"),
]);
console.log(`${paths.length} files read in parallel`);

const files = paths.map((path, n) => {
  const lines = texts[n].trimEnd().split("\n");
  const isComment = (line) => /^\s*(\/\/|#|\*)/.test(line);
  return {
    path,
    lines: lines.length,
    comments: lines.filter(isComment).length,
    functions: functions.get(path).length,
    longest: Math.max(...lines.map((line) => line.length)),
  };
});

const named = new Map();
for (const match of [...limits.values()].flat()) {
  const name = match.text.slice(match.column - 1).match(/`([^`]+)`/)[1];
  named.set(name, (named.get(name) ?? 0) + 1);
}

return {
  files,
  total: {
    files: files.length,
    lines: sum(files, "lines"),
    comments: `${Math.round((100 * sum(files, "comments")) / sum(files, "lines"))} %`,
    functions: sum(files, "functions"),
  },
  names: Object.fromEntries([...named].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).slice(0, 8)),
};

// The matches of a pattern in all files, by path.
async function search(pattern) {
  const answers = await Promise.all(granted.map((path) => tools.fs_search({ path, pattern, limit: 5000 })));
  const byPath = new Map(paths.map((path) => [path, []]));
  for (const match of answers.flatMap((answer) => answer.matches)) byPath.get(match.path).push(match);
  return byPath;
}

function sum(rows, key) {
  return rows.reduce((total, row) => total + row[key], 0);
}
