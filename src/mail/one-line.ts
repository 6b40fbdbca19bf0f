/** Mail programs show about this much of a subject. */
const SUBJECT_LENGTH_MAX = 80;

/**
 * Text of a partner or a merchant on one line of a mail. A line break in it could begin a paragraph that reads as if the
 * service had written it, and a change of the writing direction could hide a part (docs/design/lifecycle.md, "Shipments").
 */
export const oneLine = (text: string): string => text.replace(/[\s\p{Cc}\p{Bidi_C}]+/gu, " ").trim();

const PLAIN_NAME_MAX = 60;
/** An address, a link, a domain, a telephone number, or a call to do something. */
const NOT_A_NAME = /[@/\\:<>!?]|\p{L}{2,}\.\p{L}{2,}|www|\d[\d\s().-]{5,}\d/iu;

/**
 * A name that goes to a stranger in a mail of ours. Null for a text that could be read as a message of the service: a mail does
 * without it (docs/design/people.md, "Invitations").
 */
export function plainName(name: string): string | null {
  const text = oneLine(name);
  return [...text].length > PLAIN_NAME_MAX || NOT_A_NAME.test(text) ? null : text;
}

/** The subject `before name after`; the name is cut so that all of it has at most 80 characters. */
export function subjectWith(before: string, name: string, after = ""): string {
  const room = SUBJECT_LENGTH_MAX - before.length - after.length;
  const characters = [...oneLine(name)];
  const shown = characters.length <= room ? characters : [...characters.slice(0, room - 1), "…"];
  return `${before}${shown.join("")}${after}`;
}
