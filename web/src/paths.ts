import { stringifySearch } from "./routing/search.ts";

type Search = Readonly<Record<string, string | number | boolean | null | undefined>>;

const part = (id: string): string => encodeURIComponent(id);

/** Where the pages of an owner of endpoints are, whose id says what it is. */
const ownerPath = (ownerId: string): string => {
  const kind = ownerId.startsWith("mer_")
    ? "merchants"
    : ownerId.startsWith("fac_")
      ? "facilities"
      : "connections";
  return `/${kind}/${part(ownerId)}`;
};

/**
 * The addresses of all pages: nothing else in the console writes one. A test checks that each has a route.
 * @see routes.tsx
 */
export const paths = {
  overview: (search: Search = {}) => `/${stringifySearch(search)}`,
  orders: (search: Search = {}) => `/orders${stringifySearch(search)}`,
  order: (orderId: string) => `/orders/${part(orderId)}`,
  merchants: (search: Search = {}) => `/merchants${stringifySearch(search)}`,
  merchantStock: (merchantId: string, search: Search = {}) =>
    `/merchants/${part(merchantId)}/stock${stringifySearch(search)}`,
  merchantAccount: (merchantId: string, search: Search = {}) =>
    `/merchants/${part(merchantId)}/account${stringifySearch(search)}`,
  charges: (merchantId: string, search: Search = {}) =>
    `/merchants/${part(merchantId)}/charges${stringifySearch(search)}`,
  failures: (search: Search = {}) => `/payment-failures${stringifySearch(search)}`,
  merchant: (merchantId: string) => `/merchants/${part(merchantId)}`,
  products: () => "/products",
  merchantProducts: (merchantId: string, search: Search = {}) =>
    `/products/of/${part(merchantId)}${stringifySearch(search)}`,
  importProducts: (merchantId: string) => `/products/of/${part(merchantId)}/import`,
  product: (productId: string, search: Search = {}) =>
    `/products/${part(productId)}${stringifySearch(search)}`,
  exposedProducts: (connectionId: string, search: Search = {}) =>
    `/connections/${part(connectionId)}/products${stringifySearch(search)}`,
  connections: (search: Search = {}) => `/connections${stringifySearch(search)}`,
  connection: (connectionId: string) => `/connections/${part(connectionId)}`,
  endpoints: (search: Search = {}) => `/webhook-endpoints${stringifySearch(search)}`,
  owner: ownerPath,
  endpoint: (ownerId: string, endpointId: string) =>
    `${ownerPath(ownerId)}/webhook-endpoints/${part(endpointId)}`,
  allDeliveries: (search: Search = {}) => `/deliveries${stringifySearch(search)}`,
  deliveries: (ownerId: string, search: Search = {}) =>
    `${ownerPath(ownerId)}/deliveries${stringifySearch(search)}`,
  delivery: (ownerId: string, deliveryId: string) => `${ownerPath(ownerId)}/deliveries/${part(deliveryId)}`,
  sandbox: (search: Search = {}) => `/sandbox${stringifySearch(search)}`,
  workbench: (connectionId: string) => `/sandbox/${part(connectionId)}`,
  testOrder: (connectionId: string, orderId: string) => `/sandbox/${part(connectionId)}/${part(orderId)}`,
  signatureDoctor: (search: Search = {}) => `/signature-doctor${stringifySearch(search)}`,
  auditLog: (search: Search = {}) => `/audit-log${stringifySearch(search)}`,
  system: () => "/system",
  settings: (search: Search = {}) => `/settings${stringifySearch(search)}`,
  /** The fragment of a link holds its token: no server sees it before the person presses the button. */
  review: (search: Search = {}) => `/review${stringifySearch(search)}`,
  work: (search: Search = {}) => `/work${stringifySearch(search)}`,
  pickList: (pickListId: string) => `/work/pick-lists/${part(pickListId)}`,
  pickListSlips: (pickListId: string) => `/work/pick-lists/${part(pickListId)}/slips`,
  station: (search: Search = {}) => `/work/pack${stringifySearch(search)}`,
  trackingImport: (search: Search = {}) => `/work/import${stringifySearch(search)}`,
  commands: () => "/work/commands",
  slips: (orderId: string, search: Search = {}) => `/work/slips/${part(orderId)}${stringifySearch(search)}`,
  returns: () => "/returns",
  facilities: (search: Search = {}) => `/facilities${stringifySearch(search)}`,
  facility: (facilityId: string) => `/facilities/${part(facilityId)}`,
  stockList: (facilityId: string, search: Search = {}) =>
    `/facilities/${part(facilityId)}/stock${stringifySearch(search)}`,
  importStock: (facilityId: string) => `/facilities/${part(facilityId)}/stock/import`,
  stock: (facilityId: string, productId: string) =>
    `/facilities/${part(facilityId)}/stock/${part(productId)}`,
  movements: (facilityId: string, search: Search = {}) =>
    `/facilities/${part(facilityId)}/movements${stringifySearch(search)}`,
  signIn: (search: { next?: string | undefined } = {}) => `/sign-in${stringifySearch(search)}`,
  /** Links of mails lead to these two. */
  welcome: () => "/welcome",
  resetPassword: () => "/reset-password",
  account: () => "/account",
  people: (search: Search = {}) => `/people${stringifySearch(search)}`,
  person: (personId: string) => `/people/${part(personId)}`,
  tokens: (search: Search = {}) => `/tokens${stringifySearch(search)}`,
  token: (tokenId: string) => `/tokens/${part(tokenId)}`,
} as const;
