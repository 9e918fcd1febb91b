// How many starts reach 98 %, and in how many steps: `node measure.js ../measured.json [what]`.
//
// Goes on where an earlier run stopped: a state that stands in the file is not trained again. Each start has its
// own seed, from 0; training ends at 98 %, or after the steps that LIMIT gives it.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fromQuery, isCloud, startOf, toQuery } from "./state.js";
import { CLOUDS, QUESTIONS, bestLine, pointsOf } from "./tasks.js";
import { Trainer } from "./trainer.js";

const STARTS = 20;
const LIMIT = { cloud: 600, question: 1500 };
const TRIES = JSON.parse(readFileSync(new URL("tries.json", import.meta.url)));

export function run(state, limit) {
  const trainer = new Trainer(state);
  let best = 0;
  while (trainer.steps < limit && !trainer.diverged) {
    trainer.step();
    if (trainer.solved()) return { steps: trainer.steps, best: 1 };
    if (trainer.recent.length === (trainer.cloud ? 1 : 10)) best = Math.max(best, trainer.accuracy());
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

const WHAT = {
  tries: TRIES.map(({ query }) => query),
  clouds: [...grid(Object.keys(CLOUDS), [1, 2], [false, true]), ...grid(Object.keys(CLOUDS), [8])], // 8 with both takes an hour more
  questions: [...grid(Object.keys(QUESTIONS), [1, 2])],
};

const [, , file, ...what] = process.argv;
const stored = existsSync(file) ? JSON.parse(readFileSync(file)) : {};
stored.made = `node measure.js ../measured.json, ${STARTS} starts, at most ${LIMIT.cloud} steps on points and ${LIMIT.question} on sequences`;
stored.starts = STARTS;
stored.limit = LIMIT;
stored.line = Object.fromEntries(Object.keys(CLOUDS).map((task) => [task, bestLine(pointsOf(task))]));
stored.runs ??= {};
for (const query of (what.length ? what : Object.keys(WHAT)).flatMap((key) => WHAT[key])) {
  if (query in stored.runs) continue;
  const { state, complaints } = fromQuery(query),
    began = Date.now();
  if (complaints.length || toQuery(state) !== query)
    throw new RangeError(`${query}: ${complaints.join(" ")}, or not in order`);
  const limit = LIMIT[isCloud(state.task) ? "cloud" : "question"];
  const runs = Array.from({ length: STARTS }, (_, seed) => run({ ...state, seed }, limit));
  const solved = runs
    .filter(({ steps }) => steps !== null)
    .map(({ steps }) => steps)
    .sort((a, b) => a - b);
  const best = runs.map(({ best }) => +best.toFixed(4)).sort((a, b) => a - b);
  stored.runs[query] = { solved, best, diverged: runs.filter(({ diverged }) => diverged).length };
  writeFileSync(file, JSON.stringify(stored, null, 0).replace(/("[^"]*":\{"solved")/g, "\n$1") + "\n");
  const seconds = ((Date.now() - began) / 1000).toFixed(0);
  console.log(
    `${query}: ${solved.length} of ${STARTS}, steps ${solved[0]} to ${solved.at(-1)}, best ${best[0]} to ${best.at(-1)}, ${seconds} s`,
  );
}
