import type { ResultOf } from '../../contract/operation.ts'
import type { Operations } from '../../contract/operations.ts'
import type { ApiSession } from '../connection/with-api.ts'

/** How much deleting the endpoint would cancel. Counted: its health says what a node last reported, and there may be none. */
export async function countOwed(
  { client }: ApiSession,
  endpoint: string,
): Promise<ResultOf<Operations['operations']['preview']>> {
  return client.operations.preview({ body: { kind: 'cancel', filter: { endpoint } } })
}
