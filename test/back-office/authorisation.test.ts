import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Grant, Role } from "../../src/audit/grant.ts";
import { backOfficeRoutes } from "../../src/back-office/routes.ts";
import { fromTypeId } from "../../src/platform/ids.ts";
import {
  EVERYBODY,
  FOR_MONITORING,
  MERCHANTS_NOT_WAREHOUSE,
  MERCHANTS_TOO,
  OPERATOR_ONLY,
  OWN_VIEWS,
  PARTNERS_TOO,
  WAREHOUSE_NOT_MERCHANTS,
} from "../support/back-office-permissions.ts";
import {
  type BackOfficeRequest,
  createMerchantResources,
  type MerchantResources,
  requestsOf,
} from "../support/back-office-resources.ts";
import type { Partner } from "../support/builders.ts";
import { createFacility, createSibling } from "../support/facilities.ts";
import { connectionKey, withoutItsOwn } from "../support/orders.ts";
import { signedInAs } from "../support/people.ts";
import { dumpTables } from "../support/tables.ts";
import { type Client, startTestService, type TestService } from "../support/test-service.ts";

const AT_FACILITIES = /^\/api\/(facilities|orders|shipments|pick-lists)\/./;
/** Of the personal data of many buyers at once. */
const EXPORTS = ["exportOrders", "exportWork"];
const READS = backOfficeRoutes
  .filter(({ method, operationId }) => method === "GET" && !EXPORTS.includes(operationId))
  .map(({ operationId }) => operationId);

const ADMITTED: Record<Exclude<Role, "operator">, readonly string[]> = {
  warehouse: [...EVERYBODY, ...MERCHANTS_TOO, ...WAREHOUSE_NOT_MERCHANTS],
  merchant: [...EVERYBODY, ...MERCHANTS_TOO, ...MERCHANTS_NOT_WAREHOUSE],
  partner: [...EVERYBODY, ...PARTNERS_TOO],
  support: [...READS, ...OWN_VIEWS],
  monitoring: FOR_MONITORING,
};

let test: TestService;
let resources: MerchantResources;
let requests: BackOfficeRequest[];
let owner: Client;
let stranger: Client;
let strangersToken: Client;
let sibling: Client;
let siblingsToken: Client;
let packer: Client;
let packersToken: Client;
/** Has a role of each kind, each for something else. */
let jack: Client;
beforeAll(async () => {
  test = await startTestService();
  resources = await createMerchantResources(test);
  const other = await createMerchantResources(test);
  requests = requestsOf(resources);
  owner = await signedInAs(test, [grantFor("merchant", resources.partner)]);
  stranger = await signedInAs(test, [grantFor("merchant", other.partner)]);
  strangersToken = await tokenOf("merchant", other);
  const another = await createSibling(test, resources.partner);
  sibling = await signedInAs(test, [grantFor("partner", another)]);
  siblingsToken = await tokenOf("partner", { ...resources, ids: { connections: another.connectionId } });
  const elsewhere = await createFacility(test);
  const atElsewhere: Grant = { role: "warehouse", facilityIds: [fromTypeId("fac", elsewhere) ?? ""] };
  packer = await signedInAs(test, [atElsewhere]);
  jack = await signedInAs(test, [
    grantFor("partner", another),
    atElsewhere,
    grantFor("merchant", other.partner),
  ]);
  packersToken = await tokenOf("warehouse", resources, [elsewhere]);
});
afterAll(() => test.close());

const requestsFor = (...operations: string[]) =>
  requests.filter(({ operationId }) => operations.includes(operationId));

describe("the callers that a route admits", () => {
  it("are declared for every route, by the route, by its description and by this test", async () => {
    const listed = [
      ...EVERYBODY,
      ...MERCHANTS_TOO,
      ...MERCHANTS_NOT_WAREHOUSE,
      ...WAREHOUSE_NOT_MERCHANTS,
      ...OPERATOR_ONLY,
    ];
    expect(requests.map(({ operationId }) => operationId).sort()).toEqual(listed.sort());
    for (const { operationId, admits } of backOfficeRoutes)
      expect(admits?.length, operationId).toBeGreaterThan(0);
    const { paths } = JSON.parse(await readFile("openapi/back-office.json", "utf8"));
    for (const { operationId, method, path } of backOfficeRoutes) {
      const roles = Object.entries(ADMITTED).filter(([, operations]) => operations.includes(operationId));
      const described: string[] = paths[path][method.toLowerCase()]["x-roles"];
      expect(described.toSorted(), operationId).toEqual(["operator", ...roles.map(([role]) => role)].sort());
    }
  });

  describe.each(["warehouse", "merchant", "partner", "support", "monitoring"] as const)("as %s", (role) => {
    it("reject a person and a token elsewhere, and nothing changes", async () => {
      const person = await signedInAs(test, [grantFor(role, resources.partner)]);
      const clients = [person, await tokenOf(role, resources)];
      const before = await dumpTables(test);
      const rejected = requests.filter(({ operationId }) => !ADMITTED[role].includes(operationId));
      expect(rejected.length).toBeGreaterThan(5);
      for (const { operationId, send } of rejected)
        for (const client of clients) {
          const { status, body } = await send(client);
          expect(status, operationId).toBe(403);
          expect(body.type).toMatch(/\/forbidden$/);
        }
      expect(await dumpTables(test)).toEqual(before);
    });

    it("admit a person and a token where they may be", async () => {
      const person = await signedInAs(test, [grantFor(role, resources.partner)]);
      const token = await tokenOf(role, resources);
      const reads = requests.filter(({ method }) => method === "GET");
      for (const { operationId, send } of reads.filter((each) => ADMITTED[role].includes(each.operationId)))
        for (const client of [person, token])
          expect([401, 403], operationId).not.toContain((await send(client)).status);
    });
  });

  it("leave no trace of personal data in what monitoring reads", async () => {
    const client = await tokenOf("monitoring", resources);
    const countReads = async () =>
      (await test.backOffice.get("/api/audit-entries?actor=monitoring&limit=100")).body.data.length;
    const readBefore = await countReads(); // Others have signed in.
    for (const { send } of requestsFor(...FOR_MONITORING)) {
      const { body } = await send(client);
      expect(JSON.stringify(body)).not.toMatch(/firstName|lastName|address1|"actor"/);
    }
    expect(await countReads()).toBe(readBefore);
  });

  it("are the same for existing and for missing resources", async () => {
    const missing = requestsOf({ ...resources, ids: MISSING });
    for (const { operationId, send } of requestsFor(...WAREHOUSE_NOT_MERCHANTS)) {
      const there = await send(owner);
      const nowhere = await missing.find((other) => other.operationId === operationId)?.send(owner);
      expect(nowhere && withoutItsOwn(nowhere), operationId).toBe(withoutItsOwn(there));
    }
  });
});

const ID = "01m7y7np16fe68bxp4h91tdmdn";
const UUID = "019f1f83-aac1-73a5-9745-52489a50b5b6";
/** Ids of the right form that name nothing. */
const MISSING: Record<string, string> = {
  merchants: `mer_${ID}`,
  connections: `con_${ID}`,
  keys: `key_${ID}`,
  products: UUID,
  productId: UUID,
  orders: `ord_${ID}`,
  orderId: `test_${ID}`,
  resendId: `rsd_${ID}`,
  facilities: `fac_${ID}`,
  "pick-lists": `pick_${ID}`,
  charges: `chg_${ID}`,
  deliveryId: `dlv_${ID}`,
  shipments: `shp_${ID}`,
  tokens: `tok_${ID}`,
  people: `per_${ID}`,
};

/** A client with a token of a role. It was used before, so that its next use is not recorded. */
async function tokenOf(
  role: Role,
  { ids }: MerchantResources,
  facilities?: readonly string[],
): Promise<Client> {
  const things = {
    ...(role === "merchant" && { merchantIds: [ids["merchants"]] }),
    ...(role === "partner" && { connectionIds: [ids["connections"]] }),
    ...(role === "warehouse" && facilities && { facilityIds: facilities }),
  };
  const { body } = await test.backOffice.post("/api/tokens", {
    name: `A ${role}`,
    role,
    scopes: ["*"],
    ...things,
  });
  const client = test.backOfficeAs(body.token);
  await client.get("/api/me");
  return client;
}

/** A role for what belongs to a partner: its merchant, or its connection. */
function grantFor(role: Role, partner: Partner): Grant {
  const key = connectionKey(partner);
  if (role === "merchant") return { role, merchantIds: [key.merchantId] };
  if (role === "partner") return { role, connections: [key] };
  return role === "warehouse" ? { role, facilityIds: null } : { role };
}

type Stranger = {
  who: string;
  client: () => Client;
  roles: readonly Exclude<Role, "operator">[];
  paths: RegExp;
};
const ANY = /^\/api\/\w[\w-]*\/./;
const strangers: Stranger[] = [
  {
    who: "a person with other roles of each kind",
    client: () => jack,
    roles: ["merchant", "partner", "warehouse"],
    paths: AT_FACILITIES,
  },
  { who: "a person of another merchant", client: () => stranger, roles: ["merchant"], paths: ANY },
  { who: "a token of another merchant", client: () => strangersToken, roles: ["merchant"], paths: ANY },
  {
    who: "a person of another partner of the merchant",
    client: () => sibling,
    roles: ["partner"],
    paths: ANY,
  },
  {
    who: "a token of another partner of the merchant",
    client: () => siblingsToken,
    roles: ["partner"],
    paths: ANY,
  },
  // What a facility separates (docs/design/people.md, "Facilities").
  { who: "a person of another facility", client: () => packer, roles: ["warehouse"], paths: AT_FACILITIES },
  {
    who: "a token of another facility",
    client: () => packersToken,
    roles: ["warehouse"],
    paths: AT_FACILITIES,
  },
];

describe.each(strangers)("$who", ({ client, roles, paths }) => {
  const admitting = () => requestsFor(...roles.flatMap((role) => ADMITTED[role]));
  const NAMES_NOTHING = [
    ...["exportOrders", "shipOrders", "importShipments", "listPaymentFailuresByMerchant", "getWaitingCounts"],
  ];
  const named = () =>
    admitting().filter(({ operationId, path }) => paths.test(path) && !NAMES_NOTHING.includes(operationId));

  it("gets the same response as for a missing resource, and changes nothing", async () => {
    const before = await dumpTables(test);
    const missing = requestsOf({ ...resources, ids: MISSING });
    expect(named().length).toBeGreaterThanOrEqual(10);
    for (const { operationId, send } of named()) {
      const foreign = await send(client());
      const nowhere = await missing.find((other) => other.operationId === operationId)?.send(client());
      expect(foreign.status, operationId).toBe(404);
      expect(withoutItsOwn(foreign), operationId).toBe(nowhere && withoutItsOwn(nowhere));
    }
    expect(await dumpTables(test)).toEqual(before);
  });

  it("has lists that show nothing of the others", async () => {
    const { ids, partner } = resources;
    const hidden = roles.includes("warehouse")
      ? [ids["orders"], ids["charges"]?.replace("chg_", "ord_"), ids["facilities"]]
      : [...Object.values(ids), ...partner.productIds].filter(
          (id) => !roles.includes("partner") || id !== ids["merchants"],
        );
    const lists = admitting().filter(
      ({ method, path, operationId }) =>
        method === "GET" && (!path.slice("/api/".length).includes("/") || operationId === "exportOrders"),
    );
    expect(lists.length).toBeGreaterThan(1);
    for (const { operationId, send } of lists) {
      const text = JSON.stringify((await send(client())).body);
      for (const id of hidden) expect(text, operationId).not.toContain(id);
    }
  });
});

describe.each(["a person", "a token"])("%s of another merchant", (who) => {
  const client = () => (who === "a person" ? stranger : strangersToken);

  it("learns nothing from the errors of a body either", async () => {
    const wrong = { amount: "1.00", currency: "JPY" };
    const product = { sku: "S", name: "N", price: wrong };
    const policy = { reviewPolicy: { maxOrderValue: wrong } };
    const { merchants, connections, products } = resources.ids;
    const sent: [method: string, path: string, body: object][] = [
      ["POST", `/api/merchants/${merchants}/products`, product],
      ["POST", `/api/merchants/${merchants}/connections`, { name: "N", ...policy }],
      ["PATCH", `/api/connections/${connections}`, policy],
      ["PATCH", `/api/products/${products}`, { price: wrong }],
    ];
    for (const [method, path, body] of sent) {
      expect((await owner.request(method, path, { body })).status, path).toBe(422);
      expect((await client().request(method, path, { body })).status, path).toBe(404);
    }
  });

  it("has lists of its own resources only", async () => {
    expect((await client().get("/api/merchants")).body.data).toHaveLength(1);
    const { merchants, connections, orders } = resources.ids;
    for (const query of ["", `merchantId=${merchants}`, `connectionId=${connections}`, `q=${orders}`]) {
      const { status, body } = await client().get(`/api/orders?${query}`);
      expect(status).toBe(200);
      expect(JSON.stringify(body), query).not.toContain(resources.ids["orders"]);
    }
    expect(JSON.stringify((await owner.get("/api/orders")).body)).toContain(resources.ids["orders"]);
  });
});
