const pollMs = 10

/** Waits for a condition that nothing signals, such as a row in the database. Throws with what it saw last. */
export async function until<Value>(
  what: string,
  look: () => Value | Promise<Value>,
  isMet: (value: Value) => boolean = Boolean,
  timeoutMs = 30_000,
): Promise<Value> {
  const deadlineMs = performance.now() + timeoutMs
  for (;;) {
    const value = await look()
    if (isMet(value)) return value
    if (performance.now() > deadlineMs) {
      throw new Error(`waited ${timeoutMs} ms for ${what}; last seen: ${JSON.stringify(value)}`)
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}
