import { type Static, Type } from "typebox";
import type { Actor } from "../lifecycle/applied-transition.ts";
import { nullable } from "../platform/wire/schemas.ts";

export const ActorSchema = Type.Object(
  {
    kind: Type.String({
      description:
        "`partner`, `operator`, `warehouse`, `merchant`, `support` or `monitoring`; `service` for changes that the service makes itself.",
    }),
    name: nullable(
      Type.String(),
      "Name of the person or the program. In the audit log, the id of the key for a partner. Null for the service, and for partners in a timeline.",
    ),
    id: nullable(
      Type.String(),
      "Id of the token of the back office that was used. Null without one: for `OPERATOR_TOKEN`, the command line, partners and the service.",
    ),
  },
  { title: "Actor", description: "Who did something." },
);

export const toWireActor = ({ kind, name, id = null }: Actor): Static<typeof ActorSchema> => ({
  kind,
  name,
  id,
});
