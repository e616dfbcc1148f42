import { parentPort } from 'node:worker_threads'
import { CheckBudget } from './check-budget.ts'
import type { CheckReply, CheckRequest, CheckText } from './check-protocol.ts'
import { parsePayloadSchemaText } from './payload-schema.ts'

/** The program of the thread that compiles schemas and checks payloads: one request at a time, in order. */

parentPort?.on('message', (request: CheckRequest) => parentPort?.postMessage(answer(request), []))

function answer(request: CheckRequest): CheckReply {
  if (request.kind === 'schema') {
    const parsed = parsePayloadSchemaText(request.schema)
    return parsed.ok
      ? { kind: 'ok' }
      : { kind: 'failed', index: -1, code: 'schema_invalid', failures: parsed.problems }
  }
  return checkAll(request.items)
}

/** Stops at the first item that fails. All items share one budget, so that many payloads in one call cost no more than one. */
function checkAll(items: readonly CheckText[]): CheckReply {
  const budget = new CheckBudget()
  for (const [index, { schema, body }] of items.entries()) {
    const parsed = parsePayloadSchemaText(schema)
    if (!parsed.ok) return { kind: 'failed', index, code: 'schema_invalid', failures: parsed.problems }
    const checked = parsed.value.check(JSON.parse(body), budget)
    if (!checked.ok) return { kind: 'failed', index, code: checked.code, failures: checked.failures }
  }
  return { kind: 'ok' }
}
