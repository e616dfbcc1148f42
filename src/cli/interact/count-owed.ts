import type { ResultOf } from '../../contract/operation.ts'
import type { Operations } from '../../contract/operations.ts'
import type { ApiSession } from '../connection/with-api.ts'

/** Counts the deliveries that deleting the endpoint would cancel. The endpoint's health has only the last report of a node, or none. */
export async function countOwed(
  { client }: ApiSession,
  endpoint: string,
): Promise<ResultOf<Operations['operations']['preview']>> {
  return client.operations.preview({ body: { kind: 'cancel', filter: { endpoint } } })
}
