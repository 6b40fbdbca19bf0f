import { createPartner, type Partner } from "./builders.ts";
import { type CitusNode, placementOfMerchant } from "./citus-nodes.ts";
import type { TestService } from "./test-service.ts";

/** Two partners whose merchants are on different nodes, and the node of the second. */
export async function partnersOnTwoNodes(test: TestService): Promise<[Partner, Partner, CitusNode]> {
  const first = await createPartner(test);
  const { port } = await placementOfMerchant(test, first.merchantId);
  for (;;) {
    const other = await createPartner(test);
    const node = await placementOfMerchant(test, other.merchantId);
    if (node.port !== port) return [first, other, node];
  }
}
