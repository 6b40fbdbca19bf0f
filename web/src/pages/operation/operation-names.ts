import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { folded } from "../../text/folded.ts";

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
  const { data = {} } = useQuery<Texts>({
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
    const wanted = folded(text.trim());
    return namedOperations(data).filter((name) => folded(`${name} ${nameOf(name)}`).includes(wanted));
  };
  return { nameOf, find };
}

type Texts = Readonly<Record<string, string>>;

const OWNERS = ["Merchant", "Facility"] as const;

/** The same operation on endpoints of merchants and of facilities: `pauseMerchantWebhookEndpoint`. */
const OWNED =
  /^(create|update|delete|pause|resume|recover|ping|rotate|redeliver|cancel|list|get)(Merchant|Facility)(Webhook.*|Deliver.*|Resend|Events)$/;

type NamedOperation = {
  readonly operation: string;
  /** Whose endpoints it is for. Null: those of connections, or it is about no endpoint. */
  readonly owner: (typeof OWNERS)[number] | null;
};

/** What an operation is called. Null: the texts do not know it. */
export function operationIn(texts: Texts, action: string): NamedOperation | null {
  const own = texts[action];
  if (own !== undefined) return { operation: own, owner: null };
  const [, verb, ofOwner, thing] = OWNED.exec(action) ?? [];
  const operation = texts[`${verb}${thing}`];
  const owner = OWNERS.find((each) => each === ofOwner);
  return operation === undefined || owner === undefined ? null : { operation, owner };
}

/** All operations that have names, those of each kind of owner among them. */
function namedOperations(texts: Texts): readonly string[] {
  const own = Object.keys(texts);
  const ofOwners = own.flatMap((name) =>
    OWNERS.map((owner) => name.replace(/^[a-z]+/, (verb) => `${verb}${owner}`)),
  );
  return [...own, ...ofOwners.filter((name) => OWNED.test(name))];
}
