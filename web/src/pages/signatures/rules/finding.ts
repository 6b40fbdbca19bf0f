/** The findings of the doctor. Each has a text under `doctor.findings`. */
export const FINDINGS = {
  // What is needed for a check.
  headers_absent: "fault",
  header_missing: "fault",
  body_absent: "fault",
  secret_absent: "fault",
  input_too_long: "fault",
  // Headers.
  header_renamed: "warning",
  header_repeated: "warning",
  id_form: "fault",
  id_differs: "fault",
  timestamp_milliseconds: "fault",
  timestamp_form: "fault",
  timestamp_old: "note",
  timestamp_future: "warning",
  clock_behind: "fault",
  clock_ahead: "fault",
  arrival_form: "warning",
  // Signatures.
  signature_unversioned: "fault",
  signature_version: "fault",
  signature_hex: "fault",
  signature_url_safe: "fault",
  signature_separator: "fault",
  signature_length: "fault",
  signature_form: "fault",
  signatures_several: "note",
  // The secret.
  secret_is_key: "fault",
  secret_is_id: "fault",
  secret_wrapped: "warning",
  secret_without_prefix: "warning",
  secret_form: "fault",
  secret_length: "fault",
  secret_older: "warning",
  secret_differs: "fault",
  // The body.
  body_wrapped: "fault",
  body_quoted: "fault",
  body_base64: "fault",
  body_charset: "fault",
  body_rewritten: "fault",
  body_changed: "fault",
  body_order: "fault",
  body_not_json: "fault",
  // The signature that one's own program has computed.
  computed_right: "note",
  computed_hex: "warning",
  computed_secret_text: "fault",
  computed_prefix_kept: "fault",
  computed_body_only: "fault",
  computed_without_id: "fault",
  computed_without_timestamp: "fault",
  computed_rewritten: "fault",
  computed_unlike: "fault",
  computed_unknown: "fault",
} as const satisfies Record<string, "fault" | "warning" | "note">;

export type FindingCode = keyof typeof FINDINGS;

export type Finding = {
  readonly code: FindingCode;
  /** What its text names. */
  readonly values?: Readonly<Record<string, string | number>>;
};

/** The three headers of Standard Webhooks 1.0.0, which the service sends. */
export const HEADER_NAMES = ["webhook-id", "webhook-timestamp", "webhook-signature"] as const;
export type HeaderName = (typeof HEADER_NAMES)[number];

/** What a part of the request may have been when it was signed. The first reading is the part as it was given. */
export type Reading<Value> = {
  readonly value: Value;
  /** What has happened to the part if this is what was signed. Null: nothing. */
  readonly finding: Finding | null;
};

export const asGiven = <Value>(value: Value): Reading<Value> => ({ value, finding: null });
