import { wireLifecycle } from "../../../src/partner-api/lifecycle.ts";

const LIFECYCLE = wireLifecycle();
type Transition = (typeof LIFECYCLE.realOrders)[number];
type Effect = Transition["effects"][number];

/** Every transition, as `GET /v1/lifecycle` returns it. */
export const lifecycleTables = (): string => `
## Every transition

\`GET /v1/lifecycle\` returns these tables as data, and so does \`@partner-orders/sdk/lifecycle\` without the service. They are made from the
rules that the service decides by. A transition with several rows has one of these effects: which one, depends on the holds, the
lines and the shipments. Events in parentheses are opt-in: only [endpoints that name them](events.md) receive them.

### Of real orders

\`service\` is the service itself: the cancel window has ended, a payment failed or succeeded, stock is missing or arrived.

${table(
  ["Transition", "Status", "Events"],
  LIFECYCLE.realOrders.flatMap(({ transition, by, effects }) =>
    effects.map((effect, index) => [
      index === 0 ? `\`${transition}\` by ${by.join(", ")}` : "",
      ...effectOf(effect),
    ]),
  ),
)}
### Of test orders

You cause all of them, by [requests of the sandbox](sandbox.md#apply-transitions). \`cancelByPartner\` is
\`POST /v1/orders/{orderId}/cancel\`, as for a real order, and \`updateShipment\` is the tracking of a shipment.

${table(
  ["Transition", "Status", "Events"],
  LIFECYCLE.testOrders.flatMap(({ transition, effects }) =>
    effects.map((effect, index) => [index === 0 ? `\`${transition}\`` : "", ...effectOf(effect)]),
  ),
)}
A request is rejected with 409 [\`transition-refused\`](../errors/transition-refused/index.md) and its \`rule\`, or with
[\`order-not-cancelable\`](../errors/order-not-cancelable/index.md):

${table(
  ["Transition", "Rejected with", "In status"],
  LIFECYCLE.testOrders.flatMap(({ transition, rejections }) =>
    rejections.map(({ code, rule, from }, index) => [
      index === 0 ? `\`${transition}\`` : "",
      `\`${rule ?? code}\``,
      inWords(from),
    ]),
  ),
)}`;

function effectOf({ from, onlyOnHoldFor, to, eventTypes, optInEventTypes }: Effect): string[] {
  const before =
    onlyOnHoldFor === null ? inWords(from) : `${inWords(from)}, on hold for \`${onlyOnHoldFor}\``;
  const events = [
    ...eventTypes.map((type) => `\`${type}\``),
    ...optInEventTypes.map((type) => `(\`${type}\`)`),
  ];
  return [`${before} → ${to ?? "the same"}`, events.join(", ") || "none"];
}

/** The two groups of statuses that most rules are about have names. */
function inWords(statuses: readonly string[]): string {
  const isAll = (isSettled: boolean): boolean => {
    const group = LIFECYCLE.statuses.filter((one) => one.isSettled === isSettled);
    return group.length === statuses.length && group.every(({ status }) => statuses.includes(status));
  };
  if (isAll(false)) return "any that is not final";
  return isAll(true) ? "a final one" : statuses.join(", ");
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |\n`);
  return lines.join("");
}
