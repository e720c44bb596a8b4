// Mutants of the automatic run that no test kills, and why none should: what they change cannot be seen.

/** @type {{ file: string, before: string, after: string, reason: string }[]} */
export const HARMLESS = [];
