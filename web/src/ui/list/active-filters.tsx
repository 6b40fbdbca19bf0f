import { CloseButton, Group, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import classes from "./active-filters.module.css";
import { useSetFilters } from "./filters.tsx";

/** A filter that has no field of its own, because only links set it. */
export type ActiveFilter = {
  /** The parameter of the address. */
  readonly name: string;
  /** What it shows, in words. Undefined: the filter is not set. */
  readonly label: string | undefined;
};

/** The filters of the address that have no field: one sees that the list is filtered, and removes them. */
export function ActiveFilters({ of }: { of: readonly ActiveFilter[] }) {
  const { t } = useTranslation();
  const setFilters = useSetFilters();
  const set = of.filter(({ label }) => label !== undefined);
  if (set.length === 0) return null;
  return (
    <Group gap={6} w="100%">
      {set.map(({ name, label = "" }) => (
        <span key={name} className={classes["filter"]}>
          <Text span size="xs">
            {label}
          </Text>
          <CloseButton
            size="xs"
            aria-label={t("ui.removeFilter", { filter: label })}
            onClick={() => setFilters({ [name]: undefined })}
          />
        </span>
      ))}
    </Group>
  );
}
