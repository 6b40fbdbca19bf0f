import type { Context } from "../../platform/context.ts";
import { processPayments } from "../process-payments.ts";
import { accountGateway } from "./account-gateway.ts";

/** Books due payments on the merchants' accounts. */
export async function processAccountPayments(context: Context, stopping?: AbortSignal): Promise<number> {
  return processPayments(context, accountGateway(context), stopping);
}
