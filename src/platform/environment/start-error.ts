/**
 * A fault outside of the program that prevents a start, such as a port in use. The message names it and the remedy, so that neither
 * people nor logs need a stack.
 */
export class StartError extends Error {}
