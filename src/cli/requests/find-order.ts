import type { BackOffice, BackOfficeResponse } from "../back-office/back-office.ts";
import { UsageError } from "../failure.ts";
import { presentTable, presentText } from "../presentation/present.ts";
import {
  argumentOf,
  checkId,
  type OptionValues,
  optionName,
  type RequestCommand,
  resourcesInPath,
} from "./command.ts";
import { operationOf } from "./operations.ts";

type Json = Readonly<Record<string, unknown>>;

/** What a command line names, with ids of the service in the place of partners' own. */
type Named = { readonly id: string | undefined; readonly options: OptionValues };

/** Looks up the orders that a command line names by the partner's own id. Returns a problem if a look-up is rejected. */
export async function withOrderIds(
  backOffice: BackOffice,
  command: RequestCommand,
  { id, options }: Named,
): Promise<Named | { readonly problem: BackOfficeResponse }> {
  const connection = options["connection"] === undefined ? null : String(options["connection"]);
  const resolved: Record<string, unknown> = { ...options };
  let orderId = id;
  // A path that names the connection takes the partner's own id as well.
  const isLookedUp = argumentOf(command) === "order" && !resourcesInPath(command).includes("connection");
  if (id !== undefined && isLookedUp) {
    const found = await findOrderId(backOffice, id, connection);
    if (typeof found !== "string") return { problem: found };
    orderId = found;
  }
  for (const { flag, namesOrder } of command.fields ?? []) {
    const named = options[optionName(flag)];
    if (namesOrder === undefined || named === undefined) continue;
    const found = await findOrderId(backOffice, String(named), connection);
    if (typeof found !== "string") return { problem: found };
    resolved[optionName(flag)] = found;
  }
  return { id: orderId, options: resolved };
}

/** An id that the service has made. A partner's own id may begin in the same way, but hardly looks like this. */
const SERVICE_ID = /^(ord|test)_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** One can choose from no more than fit on a screen. */
const SHOWN_MAX = 20;

/** @throws UsageError if it cannot be an id, or if several orders have the partner's own id */
async function findOrderId(
  backOffice: BackOffice,
  named: string,
  connectionId: string | null,
): Promise<string | BackOfficeResponse> {
  checkId("order", named);
  if (SERVICE_ID.test(named)) return named;
  const { method, path } = operationOf("findOrders");
  const query = {
    externalOrderId: named,
    limit: String(SHOWN_MAX),
    ...(connectionId !== null && { connectionId }),
  };
  const response = await backOffice.send({ method, path, query, body: null });
  if (response.status >= 400) return response;
  const found = response.body["data"] as Json[]; // As every list has it.
  const [first, second] = found;
  if (first === undefined) return named; // The service reports that there is no such order.
  if (second === undefined) return String(first["id"]);
  throw new UsageError(
    `Several orders have the id ${presentText(named)}: add --connection, or give the id of one.\n` +
      presentTable(found, ["id", "connectionId", "connectionName", "merchantName", "createdAt"]).trimEnd(),
  );
}
