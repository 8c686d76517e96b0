// Joins orders with customers and reports the half-year's revenue.
//
//     hotcell run examples/join-report.js --dir data=examples/data
//
// Both files are read at the same time. Amounts are counted in cents, so that the sums are exact.

const [csv, json] = await Promise.all([
  tools.fs_read({ path: "data/orders.csv" }),
  tools.fs_read({ path: "data/customers.json" }),
]);
const customers = new Map(JSON.parse(json).map((customer) => [customer.id, customer]));
const orders = parseCsv(csv).map((row) => ({ ...row, cents: Number(row.quantity) * toCents(row.unit_price_eur) }));

const byCustomer = new Map();
const byMonth = new Map();
for (const order of orders) {
  const customer = customers.get(order.customer_id);
  if (!customer) {
    console.warn(`order ${order.order_id}: no customer ${order.customer_id}`);
    continue;
  }
  const sum = byCustomer.get(customer) ?? { orders: 0, returns: 0, cents: 0 };
  sum.orders += 1;
  sum.returns += order.cents < 0 ? 1 : 0;
  sum.cents += order.cents;
  byCustomer.set(customer, sum);
  const month = order.ordered_on.slice(0, 7);
  byMonth.set(month, (byMonth.get(month) ?? 0) + order.cents);
}

const total = [...byCustomer.values()].reduce((cents, sum) => cents + sum.cents, 0);
const best = [...byCustomer].sort(([, a], [, b]) => b.cents - a.cents);
const peak = Math.max(...byMonth.values());
return [
  "customer               country  orders  returns     revenue   share",
  ...best.map(([customer, sum]) =>
    [
      customer.name.padEnd(23),
      customer.country.padEnd(7),
      String(sum.orders).padStart(8),
      String(sum.returns).padStart(9),
      euros(sum.cents).padStart(12),
      `${((100 * sum.cents) / total).toFixed(1)} %`.padStart(8),
    ].join("")
  ),
  `total${euros(total).padStart(54)}`,
  "",
  ...[...byMonth].map(
    ([month, cents]) => `${month}  ${"#".repeat(Math.round((40 * cents) / peak)).padEnd(40)}${euros(cents).padStart(11)}`
  ),
].join("\n");

// Rows as objects by the names in the first line. Fields may be quoted, with quotes doubled inside.
function parseCsv(text) {
  const [names, ...rows] = text
    .trimEnd()
    .split("\n")
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) =>
        quoted === undefined ? plain : quoted.replaceAll('""', '"')
      )
    );
  return rows.map((fields) => Object.fromEntries(names.map((name, n) => [name, fields[n]])));
}

function toCents(price) {
  return Math.round(Number(price) * 100);
}

function euros(cents) {
  const sign = cents < 0 ? "-" : "";
  const [whole, rest] = (Math.abs(cents) / 100).toFixed(2).split(".");
  return `${sign}${whole.replace(/\B(?=(\d{3})+$)/g, ",")}.${rest}`;
}
