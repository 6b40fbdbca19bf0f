import { type Static, Type } from "typebox";
import { facilityScope, grantsWith, merchantScope, orderScope } from "../audit/grant.ts";
import { hasScope, type Scope, scopeRequired } from "../audit/scope.ts";
import { CHANGE_KINDS, type ChangeKind } from "../changes/change.ts";
import { type ChangeScope, merchantsInScope } from "../changes/changes-sql.ts";
import { type Change, type ChangePosition, FEED_START, readChanges } from "../changes/read-changes.ts";
import { idErrors, idIn } from "../http/route.ts";
import { bytesOf, type IdPrefix, momentOf, toTypeId, uuidOf } from "../platform/ids.ts";
import { badCursor, decodeCursor, encodeCursor } from "../platform/wire/cursor.ts";
import { isProblem, type Problem, validationFailed } from "../platform/wire/problems.ts";
import {
  cursorField,
  dateTime,
  describedAs,
  enumeration,
  idField,
  limitField,
  nullable,
  PAGE_SIZE_DEFAULT,
} from "../platform/wire/schemas.ts";
import { WAREHOUSE_ID } from "../webhooks/owner.ts";
import { type BackOfficeCaller, type BackOfficeRoute, everyone, route } from "./access.ts";

const KindSchema = enumeration(
  "ChangeKind",
  CHANGE_KINDS,
  "What has changed. `order`: anything that `GET /api/orders/{id}` returns, its charges, refunds, returns and notes included. `shipment`, `return`, `refund`, `charge`: that part of an order. `product`: what `GET /api/products/{id}` returns. `stock`: the stock of a product at a facility. `endpoint`: a webhook endpoint, without its health. More values may be added: ignore those that you do not know.",
);

const ChangeSchema = Type.Object(
  {
    id: idField("change", "Id of the change. Each object of a change has its own."),
    kind: KindSchema,
    objectId: Type.String({
      description: "Id of the object, as its own resource names it. Of `stock`: the id of the product.",
    }),
    merchantId: nullable(
      Type.String(),
      "Id of the merchant whose object it is. Null for the endpoints of facilities.",
    ),
    connectionId: nullable(
      Type.String(),
      "Id of the connection of the order or the endpoint. Null for products, stock, and endpoints of merchants and facilities.",
    ),
    orderId: nullable(
      Type.String(),
      "Id of the order that the object is or belongs to. Null for products, stock and endpoints.",
    ),
    facilityId: nullable(
      Type.String(),
      "Id of the facility of the stock or the endpoint, or of that to which the order is routed after the change. Null if there is none.",
    ),
    gone: Type.Boolean({
      description:
        "True if the object is not found any more: an endpoint was deleted, or an order was taken away from the facilities of the caller. Delete your copy.",
    }),
    version: Type.Integer({
      description:
        "Grows with each change of the object. Of several changes of an object, the one with the highest version is the last: you can leave out the others. It is no version of the object's own resource.",
    }),
    changedAt: dateTime("When the object changed."),
  },
  {
    title: "Change",
    description: "An object that was created, changed or deleted. It does not say how: read the object.",
  },
);

const ChangePageSchema = Type.Object(
  {
    data: Type.Array(ChangeSchema, { description: "The changes of the page, oldest first." }),
    nextCursor: nullable(
      Type.String(),
      "`cursor` of the next page, now or later. Null at the end of the feed: keep the cursor of this request, and send it again later.",
    ),
  },
  { title: "ChangePage", description: "A page of the feed of changes." },
);

/** What a token must be able to read to see changes of a kind. */
const SCOPE_OF: Readonly<Record<ChangeKind, Scope>> = {
  order: "orders:read",
  shipment: "orders:read",
  return: "orders:read",
  refund: "orders:read",
  charge: "orders:read",
  product: "catalog:read",
  stock: "stock:read",
  endpoint: "endpoints:read",
};

/** What the warehouse sees of all merchants: not their money, and not the endpoints of their partners. */
const WAREHOUSE_KINDS: readonly ChangeKind[] = ["order", "shipment", "return", "product", "stock"];
/** A facility separates orders and stock, and not products (docs/design/people.md, "Facilities"). */
const OF_FACILITIES: readonly ChangeKind[] = ["order", "shipment", "return", "stock", "endpoint"];

/** The part of the feed that a caller sees, narrowed to a kind and to what a token may read. */
function scopeFor({ grants, scopes }: BackOfficeCaller, kind: ChangeKind | null): ChangeScope {
  const asked = CHANGE_KINDS.filter((each) => (kind ?? each) === each && hasScope(scopes, SCOPE_OF[each]));
  const of = (kinds: readonly ChangeKind[]) => asked.filter((each) => kinds.includes(each));
  const seesAll = grants.some(({ role }) => role === "operator" || role === "support");
  const warehouse = grantsWith(grants, ["warehouse"]);
  const isWhole = warehouse.length > 0 && facilityScope(warehouse) === null;
  const merchantIds = merchantScope(grantsWith(grants, ["merchant"])) ?? [];
  return {
    kinds: seesAll ? asked : warehouse.length > 0 ? of(isWhole ? WAREHOUSE_KINDS : ["product"]) : [],
    // The warehouse has endpoints of its own, in the place of a merchant.
    ofMerchants: { ids: isWhole ? [...merchantIds, WAREHOUSE_ID] : merchantIds, kinds: asked },
    ofFacilities: { ids: orderScope(warehouse)?.facilityIds ?? [], kinds: of(OF_FACILITIES) },
  };
}

const PREFIXES: Readonly<Record<ChangeKind, IdPrefix | null>> = {
  order: "ord",
  shipment: "shp",
  return: "ret",
  refund: "rfd",
  charge: "chg",
  product: null,
  stock: null,
  endpoint: "whe",
};

const toWireChange = (change: Change): Static<typeof ChangeSchema> => {
  const prefix = PREFIXES[change.kind];
  return {
    id: toTypeId("change", idOf(change)),
    kind: change.kind,
    objectId: prefix === null ? change.objectId : toTypeId(prefix, change.objectId),
    merchantId: change.merchantId === WAREHOUSE_ID ? null : toTypeId("mer", change.merchantId),
    connectionId: change.connectionId === null ? null : toTypeId("con", change.connectionId),
    orderId: change.orderId === null ? null : toTypeId("ord", change.orderId),
    facilityId: change.facilityId === null ? null : toTypeId("fac", change.facilityId),
    gone: change.isGone,
    version: Number(change.position), // Microseconds since 1970, or a little more: safe until the year 2255.
    changedAt: momentOf(change.id).toISOString(),
  };
};

/** The objects of a change are counted in the last 16 bits of its id. */
function idOf({ id, index }: Change): string {
  const bytes = bytesOf(id);
  bytes.writeUInt16BE((bytes.readUInt16BE(14) + index) % 2 ** 16, 14);
  return uuidOf(bytes);
}

const LIST = "changes";
const POSITION_BYTES = 8;
const INDEX_BYTES = 2;

function encodePosition({ position, index }: ChangePosition): string {
  const bytes = Buffer.alloc(POSITION_BYTES + INDEX_BYTES);
  bytes.writeBigInt64BE(position);
  bytes.writeUInt16BE(index, POSITION_BYTES);
  return encodeCursor(LIST, bytes);
}

/** The position that a cursor contains. Null if the text is not a cursor of the feed. */
function decodePosition(cursor: string): ChangePosition | null {
  const bytes = decodeCursor(LIST, cursor);
  if (bytes?.length !== POSITION_BYTES + INDEX_BYTES) return null;
  const position = bytes.readBigInt64BE();
  return position < 0n ? null : { position, index: bytes.readUInt16BE(POSITION_BYTES) };
}

/** Our choice (docs/design/event-feed.md, "Cursors of changes"): an error, because a page without the dropped changes would be a gap. */
const expired = validationFailed([{ parameter: "cursor", rule: "cursor_expired" }]);

type Start = { readonly cursor?: string; readonly from?: "start" | "now" };

/** Where the page begins. Null: at the end of the feed. */
function startOf({ cursor, from }: Start): ChangePosition | null | Problem {
  if (cursor === undefined) return from === "now" ? null : FEED_START;
  if (from !== undefined)
    return validationFailed([{ parameter: "from", rule: "not_combinable", field: "cursor" }]);
  return decodePosition(cursor) ?? badCursor;
}

export const changeRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/changes",
    operationId: "listChanges",
    admits: everyone,
    tag: "Changes",
    summary: "List what has changed",
    description: [
      "Orders, products, stock and webhook endpoints that the caller sees and that were created, changed or deleted in the last 30 days, oldest first. Each change of what their resources return is in it, once it is stored; new changes are only ever added at the end. Test orders are not in it. So a program that continues from its cursor misses nothing, and may see an object again that it knows.",
      "To keep a copy: request `from=now` and keep its `nextCursor`; read the lists once; then follow the feed from that cursor, and read each object that it names. Continue from the last `nextCursor` that was not null. A page can have fewer changes than `limit`, or none, and a `nextCursor` that continues.",
      "A token sees the kinds that its scopes can read: `orders:read` orders and their parts, `catalog:read` products, `stock:read` stock, `endpoints:read` endpoints. The warehouse sees no charges and refunds, and of endpoints its own.",
    ].join("\n\n"),
    query: Type.Object({
      limit: limitField,
      cursor: cursorField,
      from: Type.Optional(
        Type.Enum(["start", "now"], {
          description:
            "Where to begin without a cursor. `start`: with the oldest change that is kept. `now`: with the next one; the page is empty, and its `nextCursor` is the place. Default: `start`.",
        }),
      ),
      kind: Type.Optional(describedAs(KindSchema, "Only changes of this kind.")),
      merchantId: Type.Optional(Type.String({ description: "Only changes of this merchant." })),
    }),
    responses: { 200: { description: "A page of changes.", schema: ChangePageSchema } },
    problems: ["validation-failed"],
    handle: async ({ caller, query }, { context }) => {
      const errors = idErrors("mer", "merchantId", query);
      if (errors.length > 0) return validationFailed(errors);
      const { kind = null, limit = PAGE_SIZE_DEFAULT } = query;
      if (kind !== null && !hasScope(caller.scopes, SCOPE_OF[kind])) return scopeRequired(SCOPE_OF[kind]);
      const from = startOf(query);
      if (from !== null && isProblem(from)) return from;
      const scope = scopeFor(caller, kind);
      const merchantIds = merchantsInScope(scope, idIn("mer", query.merchantId));
      const read = await readChanges(context, { scope, merchantIds, from, limit });
      if (read.outcome === "expired") return expired;
      const { changes, next } = read;
      return {
        status: 200,
        body: { data: changes.map(toWireChange), nextCursor: next === null ? null : encodePosition(next) },
      };
    },
  }),
];
