import type { FastifyRequest } from "fastify";
import type { PeopleContext } from "../../../people/context.ts";
import type { Visitor } from "../../../people/sign-in/visitor.ts";
import type { Problem } from "../../../platform/wire/problems.ts";
import { clientAddress } from "../../http/client-address.ts";
import { networkOf } from "../limit-attempts.ts";
import { expectedPersonIn } from "./expected-person.ts";
import { foreignOrigin, isSameOrigin } from "./same-origin.ts";

/** Who signs in: a page of this service or a program, but no foreign page. */
export const visitorOf =
  ({ config }: Pick<PeopleContext, "config">) =>
  async (request: FastifyRequest): Promise<Visitor | Problem> => {
    const { headers, method, id } = request;
    if (method !== "GET" && !isSameOrigin(headers, config)) return foreignOrigin;
    return {
      cookie: headers.cookie ?? "",
      userAgent: headers["user-agent"] ?? "",
      ipAddress: clientAddress(request),
      network: networkOf(request),
      origin: headers.origin ?? "",
      requestId: id,
      expectedPersonId: expectedPersonIn(headers),
    };
  };
