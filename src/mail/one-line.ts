/** Mail programs show about this much of a subject. */
const SUBJECT_LENGTH_MAX = 80;

/**
 * Text of a partner or a merchant on one line of a mail. A line break in it could begin a paragraph that reads as if the
 * service had written it, and a change of the writing direction could hide a part (docs/design/lifecycle.md, "Shipments").
 */
export const oneLine = (text: string): string => text.replace(/[\s\p{Cc}\p{Bidi_C}]+/gu, " ").trim();

/**
 * A partner's own id of an order, if it is nothing but an id: it has no space and no dot, so it is neither a sentence nor a link.
 * Null for another one: the mail has the service's id of the order (docs/design/people.md, "Texts in mails").
 */
export const plainId = (id: string | null): string | null =>
  id !== null && /^[A-Za-z0-9#_/-]{1,64}$/.test(id) ? id : null;

/** The subject `before name after`; the name is cut so that all of it has at most 80 characters. */
export function subjectWith(before: string, name: string, after = ""): string {
  const room = SUBJECT_LENGTH_MAX - before.length - after.length;
  const characters = [...oneLine(name)];
  const shown = characters.length <= room ? characters : [...characters.slice(0, room - 1), "…"];
  return `${before}${shown.join("")}${after}`;
}
