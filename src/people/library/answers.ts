/** What better-auth answers to a call: cookies for the browser, and a body or why it failed. */
export type AuthAnswer = {
  readonly cookies: readonly string[];
  /** Null: it succeeded. */
  readonly error: string | null;
  readonly body: Readonly<Record<string, unknown>>;
  /** Where to send the browser. Null: nowhere. */
  readonly location: string | null;
};

export async function readAnswer(response: Response): Promise<AuthAnswer> {
  const text = await response.text();
  const json: unknown = text === "" ? null : JSON.parse(text);
  const body = isObject(json) ? json : {};
  const code = body["code"];
  return {
    cookies: response.headers.getSetCookie(),
    error: response.status < 400 ? null : typeof code === "string" ? code : `STATUS_${response.status}`,
    body,
    location: response.headers.get("location"),
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
