import { ROLES } from "../../../../access/grant.ts";
import type { Context } from "../../../../platform/context.ts";
import type { ValidationError } from "../../../../platform/wire/problems.ts";
import type { BackOfficeCaller } from "../../access.ts";
import { grantErrors } from "../../grants/grant-request.ts";
import { valueAt } from "../../money/amounts.ts";

/** Errors in the grants of a body. A caller gives no more than it has. */
export async function grantsErrors(
  context: Context,
  caller: BackOfficeCaller,
  body: unknown,
): Promise<ValidationError[]> {
  const grants = valueAt(body, "/grants");
  if (!Array.isArray(grants) || grants.length > ROLES.length) return []; // The schema reports it.
  const roles = grants.map((_, index) => valueAt(body, `/grants/${index}/role`));
  const errors = await Promise.all(
    grants.map((_, index) => grantErrors(context, caller, body, `/grants/${index}`)),
  );
  const twice = roles.flatMap((role, index) =>
    typeof role === "string" && roles.indexOf(role) < index
      ? [
          {
            pointer: `/grants/${index}/role`,
            detail: "must not be given twice: name all things in one grant",
          },
        ]
      : [],
  );
  return [...errors.flat(), ...twice];
}
