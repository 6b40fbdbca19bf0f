import type { Context } from "../../platform/context.ts";
import { removeDemoLinks } from "./links-sql.ts";

/** Only the demo accepts its links: a service that is started otherwise on its database removes them. */
export const deleteDemoLinks = ({ db }: Pick<Context, "db">): Promise<number> => removeDemoLinks(db);
