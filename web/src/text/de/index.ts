import type { en } from "../en/index.ts";
import type { Translated } from "../texts.ts";
import { catalog } from "./catalog.ts";
import { live } from "./live.ts";
import { merchants } from "./merchants.ts";
import { money } from "./money.ts";
import { operation } from "./operation.ts";
import { orders } from "./orders.ts";
import { overview } from "./overview.ts";
import { people } from "./people.ts";
import { sandbox } from "./sandbox.ts";
import { shell } from "./shell.ts";
import { signatures } from "./signatures.ts";
import { systemNames } from "./system-names.ts";
import { warehouse } from "./warehouse.ts";
import { webhooks } from "./webhooks.ts";

export const de: Translated<typeof en> = {
  ...catalog,
  ...shell,
  ...orders,
  ...money,
  ...operation,
  ...overview,
  ...merchants,
  ...webhooks,
  ...people,
  ...warehouse,
  ...signatures,
  ...sandbox,
  ...live,
  ...systemNames,
};
