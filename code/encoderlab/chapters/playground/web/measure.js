// How many starts reach 98 %, and in how many steps: `node measure.js ../measured.json [what]`.
//
// Goes on where an earlier run stopped: a state that stands in the file is not trained again. Each start has its
// own seed, from 0; training ends at 98 %, or after the steps that LIMIT gives it.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fromQuery, isCloud, startOf, toQuery } from "./state.js";
import { CLOUDS, QUESTIONS, bestLine, pointsOf } from "./tasks.js";
import { Trainer } from "./trainer.js";

const STARTS = { tries: 20, rate: 20, clouds: 20, questions: 10 };
const LIMIT = { cloud: 600, question: 1500 };
const TRIES = JSON.parse(readFileSync(new URL("tries.json", import.meta.url)));

const mean = (list) => list.reduce((a, b) => a + b, 0) / list.length;

function run(state, limit) {
  const trainer = new Trainer(state);
  let best = 0;
  while (trainer.steps < limit && !trainer.diverged) {
    trainer.step();
    if (trainer.solved()) return { steps: trainer.steps, best: 1 };
    if (trainer.recent.length === (trainer.cloud ? 1 : 10)) best = Math.max(best, mean(trainer.recent));
  }
  return { steps: null, best, ...(trainer.diverged && { diverged: true }) };
}

function* grid(tasks, depths, constants = [false]) {
  for (const task of tasks)
    for (const depth of depths)
      for (const norm of ["none", "post", "pre"])
        for (const ffn of [false, true])
          for (const constant of constants) yield toQuery({ ...startOf(task), depth, norm, ffn, constant });
}

const points = Object.keys(CLOUDS);
const WHAT = {
  tries: TRIES.map(({ query }) => query),
  rate: points.map((task) => `task=${task}&ffn=on&norm=post&depth=8&lr=0.001`), // what mends it
  clouds: [...grid(points, [1, 2, 8], [false, true])],
  questions: [...grid(Object.keys(QUESTIONS), [1, 2])],
};

const [, , file, ...what] = process.argv;
const stored = existsSync(file) ? JSON.parse(readFileSync(file)) : {};
stored.made = "node measure.js ../measured.json";
stored.limit = LIMIT;
stored.line = Object.fromEntries(points.map((task) => [task, bestLine(pointsOf(task))]));
stored.runs ??= {};

for (const [kind, queries] of Object.entries(WHAT)) {
  if (what.length && !what.includes(kind)) continue;
  for (const query of queries) {
    if (query in stored.runs) continue;
    const { state, complaints } = fromQuery(query);
    if (complaints.length || toQuery(state) !== query)
      throw new RangeError(`${query} is not how an address has it. ${complaints.join(" ")}`);
    const limit = LIMIT[isCloud(state.task) ? "cloud" : "question"];
    const runs = Array.from({ length: STARTS[kind] }, (_, seed) => run({ ...state, seed }, limit));
    const ascending = (list) => list.sort((a, b) => a - b);
    const solved = ascending(runs.map(({ steps }) => steps).filter((steps) => steps !== null));
    const best = ascending(runs.map(({ best }) => +best.toFixed(4)));
    const diverged = runs.filter(({ diverged }) => diverged).length;
    stored.runs[query] = { starts: runs.length, solved, best, diverged };
    writeFileSync(file, JSON.stringify(stored).replace(/("[^"]*":\{"starts")/g, "\n$1") + "\n");
    console.log(
      `${query}: ${solved.length} of ${runs.length}, after ${solved}; best ${best[0]} to ${best.at(-1)}`,
    );
  }
}
