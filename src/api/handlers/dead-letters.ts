import type { deadLetterOperations } from '../../contract/dead-letters.ts'
import type { DeadLetterDetail } from '../../sdk/dead-letters.ts'
import type { HandlersFor } from '../call.ts'
import { withExactPayload } from '../exact-body.ts'
import { pageOfWhole } from '../whole-list.ts'

export const deadLetterHandlers: HandlersFor<typeof deadLetterOperations> = {
  list: async ({ query, management }) => management.deadLetters.list(query),
  groups: async ({ query, management }) => management.deadLetters.groupPage(query),
  trial: async ({ body, management }) => management.deadLetters.trial(body.filter, { sample: body.sample }),
  summary: async ({ query, management }) =>
    pageOfWhole('dead-letter-summary', await management.deadLetters.summary(), query, ({ endpoint, queue }) =>
      JSON.stringify([endpoint, queue]),
    ),
  recipients: async ({ query, management }) =>
    pageOfWhole('recipients', await management.deadLetters.recipients(), query, ({ endpoint }) => endpoint),
  get: async ({ params, management }) => exact(await management.deadLetters.get(params.id)),
  redrive: async ({ params, body, management }) => management.deadLetters.redrive(params.id, body),
  resolve: async ({ params, body, management }) =>
    exact(await management.deadLetters.resolve(params.id, body)),
  discard: async ({ params, query, management }) =>
    exact(await management.deadLetters.discard(params.id, query)),
}

function exact(letter: DeadLetterDetail) {
  return { ...letter, message: letter.message && withExactPayload(letter.message) }
}
