import type { Command } from "commander";
import type {
  DeliveryFaultName,
  DeliveryFaultRequest,
  EventType,
  TestOrderTransition,
  TestTrackingRequest,
  TransitionRequest,
} from "../../../sdk/src/index.ts";
import { action, count, several } from "../session.ts";
import { createTestOrder } from "../test-orders.ts";

type Options = { product?: string; quantity?: number; externalId?: string };
type TransitionOptions = {
  reason?: string[];
  line?: string[];
  shipment?: string;
  carrier?: string;
  trackingNumber?: string;
  trackingUrl?: string;
};

type FaultOptions = { endpoint?: string; type?: EventType; attempts?: number; seconds?: number };

/** The life of most orders. */
const WALK: readonly TestOrderTransition[] = ["accept", "ship", "complete"];

export function addTestOrderCommands(program: Command): void {
  const testOrders = program
    .command("test-orders")
    .description(
      "Rehearse the life of an order. Test orders are never charged or shipped, and end after two hours.",
    );
  const creating = (name: string) =>
    testOrders
      .command(name)
      .option("--product <id>", "default: the first one that can be ordered")
      .option("--quantity <n>", "default: 1", count)
      .option("--external-id <id>", "your externalOrderId; default: a new one");
  creating("create")
    .description("Place a test order.")
    .action(
      action(async ({ client, output }, options: Options) =>
        output.one(await createTestOrder(client, options)),
      ),
    );
  testOrders
    .command("transition <order> <transition>")
    .description("Apply process, accept, hold, releaseHold, ship, returnShipment, complete or cancel.")
    .option("--reason <reason>", "of hold; several after commas", several)
    .option("--line <id>", "of ship; several after commas", several)
    .option("--shipment <id>", "of returnShipment")
    .option("--carrier <name>", "of ship")
    .option("--tracking-number <number>", "of ship")
    .option("--tracking-url <url>", "of ship")
    .addHelpText(
      "after",
      "\nExample:\n  partner-orders test-orders transition web-1001 hold --reason payment_failed",
    )
    .action(
      action(
        async (
          { client, output },
          id: string,
          transition: TestOrderTransition,
          { reason, line, shipment, ...options }: TransitionOptions,
        ) => {
          const request: TransitionRequest = {
            transition,
            ...(reason && { reasons: reason }),
            ...(line && { lineIds: line }),
            ...(shipment && { shipmentId: shipment }),
            ...options,
          };
          output.one(await client.testOrders.transition(id, request));
        },
      ),
    );
  testOrders
    .command("track <order> <shipment>")
    .description("Report tracking of a shipment, as a carrier would.")
    .option("--status <status>", "such as delivered")
    .option("--carrier <name>")
    .option("--tracking-number <number>")
    .option("--tracking-url <url>")
    .action(
      action(async ({ client, output }, id: string, shipmentId: string, tracking: TestTrackingRequest) =>
        output.one(await client.testOrders.track(id, shipmentId, tracking)),
      ),
    );
  testOrders
    .command("fault <order> <fault>")
    .description(
      "Rehearse a fault with the next event of a test order, such as wrong-signature, duplicate, dropped, cut-body or reordered.",
    )
    .option("--endpoint <id>", "default: each test endpoint")
    .option("--type <type>", "only with an event of this type")
    .option("--attempts <n>", "of dropped; default: 1", count)
    .option("--seconds <n>", "of delayed, reordered and outage", count)
    .addHelpText("after", "\nExample:\n  partner-orders test-orders fault web-1001 dropped --attempts 2")
    .action(
      action(
        async (
          { client, output },
          id: string,
          fault: DeliveryFaultName,
          { endpoint, type, ...options }: FaultOptions,
        ) => {
          const request: DeliveryFaultRequest = {
            fault,
            ...(endpoint && { endpointId: endpoint }),
            ...(type && { eventType: type }),
            ...options,
          };
          output.one(await client.testOrders.armFault(id, request));
        },
      ),
    );
  testOrders
    .command("faults <order>")
    .description("List the faults of a test order: those that are armed, and the events that had one.")
    .action(
      action(async ({ client, output }, id: string) => {
        for (const fault of await client.testOrders.faults(id))
          output.line(fault, [
            fault.id,
            fault.fault,
            fault.eventType ?? "any event",
            fault.eventId ?? "armed",
          ]);
      }),
    );
  creating("walk")
    .description("Place a test order, and accept, ship and complete it.")
    .action(
      action(async ({ client, output }, options: Options) => {
        const order = await createTestOrder(client, options);
        output.line(order, [order.id, order.status]);
        for (const transition of WALK) {
          const changed = await client.testOrders.transition(order.id, { transition });
          output.line(changed, [changed.id, changed.status, transition]);
        }
      }),
    );
  testOrders
    .command("erase <order>")
    .description("Erase a test order before its time.")
    .action(action(async ({ client }, id: string) => client.testOrders.erase(id)));
}
