import { expect } from "vitest";
import type { Answer, Client, TestService } from "./test-service.ts";

/** Requests for tokens of a service. */
export function tokensOf(test: TestService) {
  const send = (fields: object, client: Client = test.backOffice): Promise<Answer> =>
    client.post("/api/tokens", { name: "Stock sync", role: "support", ...fields });
  async function create(fields: object = {}, client?: Client): Promise<Answer> {
    const answer = await send(fields, client);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer;
  }
  /** A time after now, as the API writes it. */
  const inHours = (hours: number): string =>
    new Date(test.clock.now().getTime() + hours * 3_600_000).toISOString();
  /** The status of a request with a token. */
  const statusWith = async (token: string): Promise<number> =>
    (await test.backOfficeAs(token).get("/api/me")).status;
  return { send, create, inHours, statusWith };
}

export const tokenPath = ({ body }: Answer, step = ""): string => `/api/tokens/${body.id}${step}`;
