import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { namedOperations, operationIn } from "../../text/audited-names.ts";

const NAMES = {
  en: async () => (await import("../../text/audited.en.ts")).audited,
  de: async () => (await import("../../text/audited.de.ts")).audited,
};

type Names = {
  readonly nameOf: (action: string) => string;
  /** The operations whose names contain a text, in words or in the API: "invite" finds `invitePerson`. */
  readonly find: (text: string) => string[];
};

/** Names of operations in words. They are loaded with the page. */
export function useOperationNames(): Names {
  const { t, i18n } = useTranslation();
  const language = i18n.language === "de" ? "de" : "en";
  const { data = {} } = useQuery<Readonly<Record<string, string>>>({
    queryKey: ["names of operations", language],
    queryFn: () => NAMES[language](),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const nameOf = (action: string): string => {
    const known = operationIn(data, action);
    if (known === null) return action;
    const { operation, owner } = known;
    return owner === null ? operation : t(`audit.ofOwner.${owner}`, { operation });
  };
  const find = (text: string): string[] => {
    const wanted = text.trim().toLowerCase();
    return namedOperations(data).filter((name) => `${name} ${nameOf(name)}`.toLowerCase().includes(wanted));
  };
  return { nameOf, find };
}
