import { codeOf } from "./problem.ts";

/** Why a person must sign in while a page is open: the session ended, or an operation asks for a recent sign-in. */
type SignInNeed = "expired" | "recent";

export type OpenGate = { readonly need: SignInNeed; resolve(signedIn: boolean): void };

/**
 * Requests wait here while a dialog over the page asks the person to sign in. Several requests share one dialog. Before
 * the first sign-in there is no page to keep: the sign-in page comes instead.
 */
class SignInGate {
  #personId: string | null = null;
  #open: (OpenGate & { readonly done: Promise<boolean> }) | null = null;
  readonly #listeners = new Set<() => void>();

  /** Id of the person that the page shows as signed in. Null: none. */
  get personId(): string | null {
    return this.#personId;
  }

  /** The person was seen to be signed in. */
  admit(personId: string): void {
    this.#personId = personId;
  }

  /** The person signed out, or another one may sign in. */
  leave(): void {
    this.#personId = null;
  }

  async needOf(response: Response): Promise<SignInNeed | null> {
    if (this.#personId === null) return null;
    if (response.status !== 401 && response.status !== 403) return null;
    const code = await codeOf(response);
    // A password or code that is not right is 401 as well, and says so.
    if (response.status === 401) return code === "sign-in-failed" ? null : "expired";
    return code === "recent-authentication-required" ? "recent" : null;
  }

  /** Resolves when the person has signed in (true) or has closed the dialog (false). */
  open(need: SignInNeed): Promise<boolean> {
    if (this.#open !== null) return this.#open.done;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#open = {
      need,
      done: promise,
      resolve: (signedIn) => {
        this.#open = null;
        this.#notify();
        resolve(signedIn);
      },
    };
    this.#notify();
    return promise;
  }

  /** For `useSyncExternalStore`. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly current = (): OpenGate | null => this.#open;

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

export const signInGate = new SignInGate();

/** What each request says about the person that its page shows as signed in (docs/design/people.md, "The person of a page"). */
export const shownPersonHeaders = (): Readonly<Record<string, string>> =>
  signInGate.personId === null ? {} : { "x-person-id": signInGate.personId };

/**
 * Another person has signed in, perhaps in another tab: it neither sends what this one began, nor sees what this one was
 * allowed to see.
 */
export async function reloadIfPersonChanged(response: Response): Promise<void> {
  if (response.status === 409 && (await codeOf(response)) === "person-changed") location.reload();
}
