import IconActivity from "icon:activity";
import IconAdjustments from "icon:adjustments";
import IconBarcode from "icon:barcode";
import IconBuildingStore from "icon:building-store";
import IconBuildingWarehouse from "icon:building-warehouse";
import IconCash from "icon:cash";
import IconClipboardCheck from "icon:clipboard-check";
import IconHistory from "icon:history";
import IconKey from "icon:key";
import IconLayoutDashboard from "icon:layout-dashboard";
import IconListDetails from "icon:list-details";
import IconPackage from "icon:package";
import IconPlugConnected from "icon:plug-connected";
import IconSend from "icon:send";
import IconStethoscope from "icon:stethoscope";
import IconTag from "icon:tag";
import IconTestPipe from "icon:test-pipe";
import IconTruckReturn from "icon:truck-return";
import IconUsers from "icon:users";
import IconWebhook from "icon:webhook";
import type { Role } from "../api/me.ts";
import { read } from "../api/read.ts";
import type { WaitingCounts } from "../api/schema.d.ts";
import { paths } from "../paths.ts";
import type { Icon } from "../ui/icon.tsx";

/** The key of its text under `navigation`. */
export type PageName =
  | "overview"
  | "orders"
  | "review"
  | "work"
  | "pack"
  | "returns"
  | "facilities"
  | "products"
  | "merchants"
  | "money"
  | "connections"
  | "endpoints"
  | "sandbox"
  | "deliveries"
  | "signatureDoctor"
  | "people"
  | "tokens"
  | "audit"
  | "system"
  | "settings";

export type Item = {
  readonly name: PageName;
  readonly to: string;
  readonly icon: Icon;
  /** Who finds it in the navigation. What is permitted is decided by the service. */
  readonly roles: readonly Role[];
  /** The letter that opens it after `g`. */
  readonly key?: string;
  /** What waits there. */
  readonly waiting?: keyof WaitingCounts;
};

type AreaName = "home" | "orders" | "pack" | "catalogue" | "money" | "partners" | "settings";

/** Pages that belong together: one entry of the navigation, whose pages are tabs. */
export type Area = { readonly name: AreaName; readonly icon: Icon; readonly items: readonly Item[] };

const ALL_BUT_MONITORING: readonly Role[] = ["operator", "support", "merchant", "warehouse", "partner"];

const FLOOR: readonly Role[] = ["operator", "warehouse"];

/** Partners' developers, and who helps them. */
const DEVELOPERS: readonly Role[] = ["operator", "partner"];

/** Who gives access to others, or sees who has it. */
const GIVERS: readonly Role[] = ["operator", "merchant", "support"];

const OPERATION: readonly Role[] = ["operator", "support"];

/** Staff, and merchants, who pay. */
const PAYERS: readonly Role[] = ["operator", "support", "merchant"];

/** The navigation, in the order in which it is shown. The command palette offers the same pages. */
const NAVIGATION: readonly Area[] = [
  {
    name: "home",
    icon: IconLayoutDashboard,
    items: [
      {
        name: "overview",
        to: paths.overview(),
        icon: IconLayoutDashboard,
        roles: ALL_BUT_MONITORING,
        key: "h",
      },
    ],
  },
  {
    name: "orders",
    icon: IconListDetails,
    items: [
      {
        name: "orders",
        to: paths.orders(),
        icon: IconListDetails,
        roles: ALL_BUT_MONITORING,
        key: "o",
        waiting: "onHold",
      },
      {
        name: "review",
        to: paths.review(),
        icon: IconClipboardCheck,
        roles: FLOOR,
        key: "r",
        waiting: "inReview",
      },
      { name: "returns", to: paths.returns(), icon: IconTruckReturn, roles: FLOOR },
    ],
  },
  {
    name: "pack",
    icon: IconPackage,
    items: [
      { name: "work", to: paths.work(), icon: IconPackage, roles: FLOOR, key: "p", waiting: "toShip" },
      { name: "pack", to: paths.station(), icon: IconBarcode, roles: FLOOR },
    ],
  },
  {
    name: "catalogue",
    icon: IconTag,
    items: [
      { name: "products", to: paths.products(), icon: IconTag, roles: PAYERS, key: "k" },
      { name: "facilities", to: paths.facilities(), icon: IconBuildingWarehouse, roles: FLOOR, key: "f" },
    ],
  },
  {
    name: "money",
    icon: IconCash,
    items: [
      {
        name: "money",
        to: paths.failures(),
        icon: IconCash,
        roles: PAYERS,
        key: "y",
        waiting: "declinedPayments",
      },
    ],
  },
  {
    name: "partners",
    icon: IconPlugConnected,
    items: [
      {
        name: "merchants",
        to: paths.merchants(),
        icon: IconBuildingStore,
        roles: ["operator", "support", "merchant", "warehouse", "monitoring"],
        key: "m",
      },
      {
        name: "connections",
        to: paths.connections(),
        icon: IconPlugConnected,
        roles: ["operator", "support", "merchant", "partner", "monitoring"],
        key: "c",
      },
      {
        name: "endpoints",
        to: paths.endpoints(),
        icon: IconWebhook,
        roles: ["operator", "merchant", "support", "warehouse", "partner", "monitoring"],
        key: "w",
        waiting: "failingEndpoints",
      },
      {
        name: "deliveries",
        to: paths.allDeliveries(),
        icon: IconSend,
        roles: ["operator", "merchant", "support", "warehouse", "partner"],
        key: "d",
      },
      { name: "sandbox", to: paths.sandbox(), icon: IconTestPipe, roles: DEVELOPERS, key: "b" },
      { name: "signatureDoctor", to: paths.signatureDoctor(), icon: IconStethoscope, roles: DEVELOPERS },
    ],
  },
  {
    name: "settings",
    icon: IconAdjustments,
    items: [
      { name: "people", to: paths.people(), icon: IconUsers, roles: GIVERS, key: "u" },
      { name: "tokens", to: paths.tokens(), icon: IconKey, roles: GIVERS, key: "t" },
      { name: "audit", to: paths.auditLog(), icon: IconHistory, roles: OPERATION },
      { name: "system", to: paths.system(), icon: IconActivity, roles: OPERATION, key: "s" },
      { name: "settings", to: paths.settings(), icon: IconAdjustments, roles: ["operator"] },
    ],
  },
];

/** The navigation of a person with these roles, without empty areas. */
export const navigationOf = (roles: readonly Role[]): readonly Area[] =>
  NAVIGATION.map((area) => ({
    ...area,
    items: area.items.filter((item) => item.roles.some((role) => roles.includes(role))),
  })).filter(({ items }) => items.length > 0);

/** The pages themselves are live. */
const COUNT_EVERY_MS = 60_000;

/** How much waits at the pages of the navigation. Each change by the person reads it again. */
export const waitingQuery = (roles: readonly Role[]) => ({
  ...read("/api/overview/counts"),
  enabled: roles.some((role) => ALL_BUT_MONITORING.includes(role)),
  refetchInterval: COUNT_EVERY_MS,
});

/** True if the path is that of the page, or below it. */
const isUnder = (path: string, { to }: Item): boolean =>
  path === to || (to !== "/" && path.startsWith(`${to}/`));

/** The area that a page belongs to. Undefined: none, as the person's own account. */
export const areaOf = (areas: readonly Area[], path: string): Area | undefined =>
  areas.find(({ items }) => items.some((item) => isUnder(path, item)));

/** The page of the guides about an area, or about a page of it. */
export function guideOf(area: Area | undefined, path: string, roles: readonly Role[]): string {
  const page = Object.entries(GUIDES).find(([of]) => path === of || path.startsWith(`${of}/`))?.[1];
  if (page !== undefined) return `/docs/${page}.html`;
  if (area?.name === "pack" || (roles.includes("warehouse") && !roles.includes("operator")))
    return "/docs/warehouse/guide.html";
  if (roles.includes("operator")) return "/docs/operators/guide.html";
  if (roles.includes("merchant")) return "/docs/merchants/guide.html";
  return roles.includes("partner") ? "/docs/partners/quickstart.html" : "/docs/";
}

const GUIDES: Readonly<Record<string, string>> = {
  [paths.endpoints()]: "partners/webhooks",
  [paths.allDeliveries()]: "partners/retries",
  [paths.sandbox()]: "partners/sandbox",
  [paths.signatureDoctor()]: "partners/signatures",
  [paths.auditLog()]: "audit-log",
  [paths.people()]: "people",
  [paths.tokens()]: "access",
  [paths.system()]: "operation",
};
