import { Text, TextInput } from "@mantine/core";
import { useSetFilters } from "./filters.tsx";

type Props = {
  readonly label: string;
  /** The parameter of the address. */
  readonly name: string;
  /** A day in the person's zone, such as `2026-11-22`. */
  readonly value: string | undefined;
};

/** A day. The browser's own field: it works by keyboard and screen reader, and speaks the person's language. */
export function DayFilter({ label, name, value }: Props) {
  const setFilters = useSetFilters();
  return (
    <TextInput
      size="xs"
      type="date"
      w={180}
      leftSection={
        <Text span size="xs" c="dimmed" aria-hidden>
          {label}
        </Text>
      }
      leftSectionWidth={44}
      aria-label={label}
      value={value ?? ""}
      onChange={(event) => setFilters({ [name]: event.currentTarget.value || undefined })}
    />
  );
}
