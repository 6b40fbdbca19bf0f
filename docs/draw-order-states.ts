import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { instance } from "@viz-js/viz";
import { ORDER_STATUSES } from "../src/lifecycle/order.ts";
import { ORDER_CHART, SETTLED_STATUSES } from "../src/lifecycle/order-chart.ts";
import type { TransitionName } from "../src/lifecycle/transition.ts";

/** Where the picture lies. `npm run draw` makes it anew; a test tells when that was forgotten. */
export const ORDER_STATES_FILE = fileURLToPath(new URL("order-states.svg", import.meta.url));

const WORDS: Partial<Record<TransitionName, string>> = {
  accept: "window closes",
  cancelByPartner: "cancel (partner)",
  cancel: "cancel (house)",
  returnShipment: "return",
};

/** The states of real orders as an SVG picture, drawn from the very chart that decides (src/lifecycle/order-chart.ts). */
export async function drawOrderStates(): Promise<string> {
  const viz = await instance();
  return viz.renderString(toDot(), { format: "svg" });
}

function toDot(): string {
  const labels = new Map<string, string[]>();
  for (const [name, { from, to }] of Object.entries(ORDER_CHART)) {
    for (const status of to === null ? [] : from) {
      const edge = `${status} -> ${to}`;
      const word = WORDS[name as TransitionName] ?? name; // The chart's own keys.
      labels.set(edge, [...(labels.get(edge) ?? []), word]);
    }
  }
  const nodes = ORDER_STATUSES.map(
    (status) => `${status} [peripheries=${SETTLED_STATUSES.includes(status) ? 2 : 1}]`,
  );
  const edges = [...labels].map(([edge, words]) => `${edge} [label="${words.join("\\n")}"]`);
  return `digraph "States of a real order" {
    rankdir=LR; bgcolor=white; nodesep=0.5; ranksep=0.9;
    node [shape=box, style="rounded,filled", fillcolor="#eef3f8", fontname="Helvetica", fontsize=12, margin="0.2,0.1"];
    edge [fontname="Helvetica", fontsize=10];
    start [shape=circle, label="", width=0.2, fillcolor=black];
    ${nodes.join(";\n    ")};
    start -> NEW [label="created"];
    start -> PROCESSING [label="created,\\nneeds review"];
    ${edges.join(";\n    ")};
  }`;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await writeFile(ORDER_STATES_FILE, await drawOrderStates());
