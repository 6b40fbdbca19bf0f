import {
  type Icon,
  IconActivity,
  IconAdjustments,
  IconBarcode,
  IconBuildingStore,
  IconBuildingWarehouse,
  IconCash,
  IconClipboardCheck,
  IconHistory,
  IconKey,
  IconLayoutDashboard,
  IconListDetails,
  IconPackage,
  IconPlugConnected,
  IconSend,
  IconStethoscope,
  IconTag,
  IconTestPipe,
  IconTruckReturn,
  IconUsers,
  IconWebhook,
} from "@tabler/icons-react";
import type { Role } from "../api/me.ts";
import { paths } from "../paths.ts";

type Item = {
  /** The key of its text under `navigation`. */
  readonly name:
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
  readonly to: string;
  readonly icon: Icon;
  /** Who finds it in the navigation. What is permitted is decided by the service. */
  readonly roles: readonly Role[];
  /** The page is marked only on its own address, not on those below it. */
  readonly isExact?: boolean;
  /** The letter that opens it after `g`. */
  readonly key?: string;
};

type Group = { readonly name: "work" | "develop" | "operation"; readonly items: readonly Item[] };

const ALL_BUT_MONITORING: readonly Role[] = ["operator", "support", "merchant", "warehouse", "partner"];

const FLOOR: readonly Role[] = ["operator", "warehouse"];

/** Partners' developers, and who helps them. */
const DEVELOPERS: readonly Role[] = ["operator", "partner"];

/** Who gives access to others, or sees who has it. */
const GIVERS: readonly Role[] = ["operator", "merchant", "support"];

const OPERATION: readonly Role[] = ["operator", "support"];

/** The navigation, in the order in which it is shown. The command palette offers the same pages. */
const NAVIGATION: readonly Group[] = [
  {
    name: "work",
    items: [
      {
        name: "overview",
        to: paths.overview(),
        icon: IconLayoutDashboard,
        roles: ALL_BUT_MONITORING,
        isExact: true,
        key: "h",
      },
      { name: "orders", to: paths.orders(), icon: IconListDetails, roles: ALL_BUT_MONITORING, key: "o" },
      {
        name: "review",
        to: paths.review(),
        icon: IconClipboardCheck,
        roles: FLOOR,
        key: "r",
      },
      { name: "work", to: paths.work(), icon: IconPackage, roles: FLOOR, key: "p", isExact: true },
      { name: "pack", to: paths.station(), icon: IconBarcode, roles: FLOOR },
      { name: "returns", to: paths.returns(), icon: IconTruckReturn, roles: FLOOR },
      { name: "facilities", to: paths.facilities(), icon: IconBuildingWarehouse, roles: FLOOR, key: "f" },
      {
        name: "products",
        to: paths.products(),
        icon: IconTag,
        roles: ["operator", "support", "merchant"],
        key: "k",
      },
      {
        name: "merchants",
        to: paths.merchants(),
        icon: IconBuildingStore,
        roles: ["operator", "support", "merchant", "warehouse", "monitoring"],
        key: "m",
      },
      {
        name: "money",
        to: paths.failures(),
        icon: IconCash,
        roles: ["operator", "support", "merchant"],
        key: "y",
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
      },
      {
        name: "deliveries",
        to: paths.allDeliveries(),
        icon: IconSend,
        roles: ["operator", "merchant", "support", "warehouse", "partner"],
        key: "d",
      },
    ],
  },
  {
    name: "develop",
    items: [
      { name: "sandbox", to: paths.sandbox(), icon: IconTestPipe, roles: DEVELOPERS, key: "b" },
      {
        name: "signatureDoctor",
        to: paths.signatureDoctor(),
        icon: IconStethoscope,
        roles: DEVELOPERS,
      },
    ],
  },
  {
    name: "operation",
    items: [
      { name: "people", to: paths.people(), icon: IconUsers, roles: GIVERS, key: "u" },
      { name: "tokens", to: paths.tokens(), icon: IconKey, roles: GIVERS, key: "t" },
      { name: "audit", to: paths.auditLog(), icon: IconHistory, roles: OPERATION },
      { name: "system", to: paths.system(), icon: IconActivity, roles: OPERATION, key: "s" },
      { name: "settings", to: paths.settings(), icon: IconAdjustments, roles: ["operator"] },
    ],
  },
];

/** The navigation of a person with these roles, without empty groups. */
export const navigationOf = (roles: readonly Role[]): readonly Group[] =>
  NAVIGATION.map(({ name, items }) => ({
    name,
    items: items.filter((item) => item.roles.some((role) => roles.includes(role))),
  })).filter(({ items }) => items.length > 0);
