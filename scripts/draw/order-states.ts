import { ORDER_CHART, SETTLED_STATUSES } from "../../src/lifecycle/lifecycle.ts";
import { ORDER_STATUSES, type TransitionName } from "../../src/lifecycle/order.ts";

const LABELS: Partial<Record<TransitionName, string>> = {
  accept: "window closes",
  cancelByPartner: "cancel (partner)",
  cancel: "cancel (back office)",
  returnShipment: "return",
};

/** The states of real orders, from the chart that the lifecycle itself uses (src/lifecycle/lifecycle.ts). */
export function orderStates(): string {
  const labels = new Map<string, string[]>();
  for (const [name, { from, to }] of Object.entries(ORDER_CHART)) {
    for (const status of to === null ? [] : from) {
      const edge = `${status} -> ${to}`;
      const label = LABELS[name as TransitionName] ?? name; // The chart's own keys.
      labels.set(edge, [...(labels.get(edge) ?? []), label]);
    }
  }
  const nodes = ORDER_STATUSES.map(
    (status) => `${status} [peripheries=${SETTLED_STATUSES.includes(status) ? 2 : 1}]`,
  );
  const edges = [...labels].map(([edge, lines]) => `${edge} [label="${lines.join("\\n")}"]`);
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
