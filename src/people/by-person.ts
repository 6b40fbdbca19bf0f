import { strongestRole } from "../audit/grant.ts";
import { recordAudit } from "../audit/record-audit.ts";
import type { Queryable } from "../platform/database/database.ts";
import { toTypeId } from "../platform/ids.ts";
import type { PeopleContext, Person, Visitor } from "./person.ts";

/** Records what a person has done, or a stranger in its name, with how it signs in. */
export const recordByPerson = (
  tx: Queryable,
  context: Pick<PeopleContext, "clock" | "newId">,
  { id, name, grants }: Pick<Person, "id" | "name" | "grants">,
  { requestId }: Pick<Visitor, "requestId">,
  action: string,
  details: Readonly<Record<string, unknown>> = {},
): Promise<void> =>
  recordAudit(
    tx,
    context,
    {
      actor: { kind: strongestRole(grants) ?? "service", name, id: toTypeId("per", id) },
      requestId,
      action,
    },
    { merchantId: null, subject: "per", ids: [id], details },
  );
