// The part of the set-up that is easiest to say in JavaScript. Runs once, before the snapshot; what it keeps, it keeps
// in local constants, so that a program that replaces built-ins changes nothing here.
(function () {
  "use strict";
  const { defineProperty } = Object;
  const { rawJSON } = JSON;
  const digits = Function.prototype.call.bind(BigInt.prototype.toString);

  // JSON.stringify prints a BigInt as its digits, like the boundary does.
  const toJSON = { toJSON() { return rawJSON(digits(this)); } }.toJSON;
  defineProperty(BigInt.prototype, "toJSON", { value: toJSON, writable: true, configurable: true });

  // The methods of console that remember something between calls.
  const { log } = console;
  const { now } = performance;
  const started = Object.create(null);
  const counts = Object.create(null);
  const elapsed = (label) => (label in started ? `${label}: ${now() - started[label]} ms` : `${label}: not started`);
  const remembering = {
    time(label = "default") { started[label] = now(); },
    timeLog(label = "default", ...more) { log(elapsed(label), ...more); },
    timeEnd(label = "default") { log(elapsed(label)); delete started[label]; },
    count(label = "default") { log(`${label}: ${counts[label] = (counts[label] ?? 0) + 1}`); },
    countReset(label = "default") { delete counts[label]; },
  };
  Object.assign(console, remembering);

  // The class of a namespace's failed calls.
  return function errorClass(name) {
    const made = { [name]: class extends Error {} }[name];
    defineProperty(made.prototype, "name", { value: name, writable: true, configurable: true });
    return made;
  };
})
