type Names = Readonly<Record<string, string>>;

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
export function operationIn(names: Names, action: string): NamedOperation | null {
  const own = names[action];
  if (own !== undefined) return { operation: own, owner: null };
  const [, verb, ofOwner, thing] = OWNED.exec(action) ?? [];
  const operation = names[`${verb}${thing}`];
  const owner = OWNERS.find((each) => each === ofOwner);
  return operation === undefined || owner === undefined ? null : { operation, owner };
}

/** All operations that have names, those of each kind of owner among them. */
export function namedOperations(names: Names): readonly string[] {
  const own = Object.keys(names);
  const ofOwners = own.flatMap((name) =>
    OWNERS.map((owner) => name.replace(/^[a-z]+/, (verb) => `${verb}${owner}`)),
  );
  return [...own, ...ofOwners.filter((name) => OWNED.test(name))];
}
