import { catalog } from "./catalog.en.ts";
import { merchants } from "./merchants.en.ts";
import { money } from "./money.en.ts";
import { operation } from "./operation.en.ts";
import { orders } from "./orders.en.ts";
import { overview } from "./overview.en.ts";
import { people } from "./people.en.ts";
import { sandbox } from "./sandbox.en.ts";
import { shell } from "./shell.en.ts";
import { signatures } from "./signatures.en.ts";
import { warehouse } from "./warehouse.en.ts";
import { webhooks } from "./webhooks.en.ts";

/** All texts in English. Each area of the console has a file of its own. */
export const en = {
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

/** The same keys as in English, in another language. A missing key, or one too many, does not compile. */
export type Translated<Texts> = {
  readonly [Key in keyof Texts]: Texts[Key] extends string ? string : Translated<Texts[Key]>;
};
