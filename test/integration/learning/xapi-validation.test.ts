import { createRequire } from 'node:module'
import { expect, it } from 'vitest'
import { samples, several } from '../../../src/transforms/learning/sample-events.ts'
import { sampleInput } from '../../../src/transforms/sample-input.ts'
import { isXapiKind } from '../../../src/transforms/xapi/kinds.ts'
import { compileXapi } from '../../../src/transforms/xapi/xapi-transform.ts'
import { validateStatement } from '../../support/record-store/validate-statement.ts'

// It has no types.
const { default: validate } = createRequire(import.meta.url)('@learninglocker/xapi-validation') as {
  default: (statement: unknown) => { message?: string; path?: unknown }[]
}

const xapi = compileXapi(
  { platformUrl: 'https://learn.example', actor: { from: 'hash', key: 'a key that is long enough' } },
  { readTable: async () => new Map(), nowMs: () => 0 },
)
const events = Object.entries({ ...samples, several }).filter(([, event]) =>
  isXapiKind(String(event['name'])),
)

it.each(events)(
  'a statement of %s passes the validation of a real record store, and ours',
  async (_, event) => {
    for (const statement of await xapi.items(sampleInput(event))) {
      expect(validate(statement)).toEqual([])
      expect(validateStatement(statement)).toEqual([])
    }
  },
)

it('both validations refuse what is wrong', async () => {
  const [statement] = await xapi.items(sampleInput(samples['pause_video']))
  for (const change of [
    { id: 'x' },
    { timestamp: 'yesterday' },
    { verb: { id: 'no iri' } },
    { object: { id: 'no iri' } },
    { actor: {} },
  ]) {
    expect(validate({ ...statement, ...change })).not.toEqual([])
    expect(validateStatement({ ...statement, ...change })).not.toEqual([])
  }
})
