import type { ApiSession } from '../connection/with-api.ts'

/** How much deleting the endpoint would cancel. Counted: its health says what a node last reported, and there may be none. */
export async function countOwed({ client }: ApiSession, endpoint: string): Promise<number> {
  const { count } = await client.operations.preview({ body: { kind: 'cancel', filter: { endpoint } } })
  return count
}
