// Reads many files at once, tries a failing read again with a growing pause, and goes on without what stays missing.
//
//     hotcell run examples/fan-out-retry.js --dir data=examples/data
//
// One month's file does not exist. Its place is taken by the mean of its neighbours, and the report says so.

const MONTHS = ["2026-01", "2026-02", "2026-03", "2026-04", "2026-05"];
const TRIES = 3;

const months = await Promise.all(
  MONTHS.map(async (month) => {
    try {
      const text = await retry(() => tools.fs_read({ path: `data/readings/${month}.csv` }), month);
      return { month, ...summarize(text), source: "measured" };
    } catch (error) {
      if (!(error instanceof ToolCallError)) throw error;
      return { month, missing: `${error.toolName}: ${error.message}` };
    }
  })
);

return months.map((one, n) => {
  if (!one.missing) return one;
  const around = [months[n - 1], months[n + 1]].filter((other) => other && !other.missing);
  if (around.length === 0) return one;
  const mean = (key) => round(around.reduce((sum, other) => sum + other[key], 0) / around.length);
  return { month: one.month, mean_c: mean("mean_c"), gust_m_s: mean("gust_m_s"), source: "interpolated", why: one.missing };
});

// Calls `attempt` until it succeeds, at most TRIES times, waiting 20 ms, 40 ms, … in between.
async function retry(attempt, label) {
  for (let tried = 1; ; tried++) {
    try {
      return await attempt();
    } catch (error) {
      if (tried === TRIES) throw error;
      const pause = 10 * 2 ** tried;
      console.warn(`${label}: ${error.message}; trying again in ${pause} ms`);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}

function summarize(csv) {
  const rows = csv.trim().split("\n").slice(1).map((line) => line.split(","));
  const temperatures = rows.map((row) => Number(row[2]));
  return {
    mean_c: round(temperatures.reduce((sum, one) => sum + one, 0) / rows.length),
    gust_m_s: Math.max(...rows.map((row) => Number(row[3]))),
  };
}

function round(number) {
  return Math.round(number * 10) / 10;
}
