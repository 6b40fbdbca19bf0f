import { catalog } from "./catalog.de.ts";
import { merchants } from "./merchants.de.ts";
import { money } from "./money.de.ts";
import { operation } from "./operation.de.ts";
import { orders } from "./orders.de.ts";
import { overview } from "./overview.de.ts";
import { people } from "./people.de.ts";
import { sandbox } from "./sandbox.de.ts";
import { shell } from "./shell.de.ts";
import { signatures } from "./signatures.de.ts";
import type { en, Translated } from "./texts.en.ts";
import { warehouse } from "./warehouse.de.ts";
import { webhooks } from "./webhooks.de.ts";

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
};
