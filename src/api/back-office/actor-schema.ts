import { Type } from "typebox";
import { nullable } from "../../platform/wire/schemas.ts";

export const ActorSchema = Type.Object(
  {
    kind: Type.String({
      description:
        "`partner`, `operator`, `warehouse` or `merchant`; `service` for changes that the service makes itself.",
    }),
    name: nullable(
      Type.String(),
      "Name of the person or the program. In the audit log, the id of the key for a partner. Null for the service, and for partners in a timeline.",
    ),
  },
  { title: "Actor", description: "Who did something." },
);
