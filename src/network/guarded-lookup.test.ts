import type { LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { expect, test } from 'vitest'
import { guardedLookup } from './guarded-lookup.ts'
import { networkRules } from './network-rules.ts'

test('a name with thousands of addresses costs no more than one with a few', async () => {
  const answer = Array.from({ length: 4000 }, (_, n) => ({
    address: `93.184.${n >> 8}.${n & 255}`,
    family: 4,
  }))
  const resolve: LookupFunction = (_hostname, _options, callback) => callback(null, answer)
  const lookup = guardedLookup(networkRules([]), resolve)
  const addresses = await new Promise<LookupAddress[]>((settle, reject) =>
    lookup('many.example', { all: true }, (error, found) =>
      error === null ? settle(found as LookupAddress[]) : reject(error),
    ),
  )
  expect(addresses).toEqual(answer.slice(0, 16))
})
