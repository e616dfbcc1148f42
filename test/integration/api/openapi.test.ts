import { readFileSync } from 'node:fs'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { expect, test } from 'vitest'
import { describeApi } from '../../../src/contract/openapi.ts'

const committed = readFileSync('openapi.json', 'utf8')

test('the committed document is what the API says of itself', () => {
  expect(JSON.parse(committed), 'run: node scripts/write-openapi.mjs').toEqual(
    JSON.parse(JSON.stringify(describeApi())),
  )
})

test('it lints clean', async () => {
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({ source: committed, absoluteRef: 'openapi.json', config })
  expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([])
})

test('every call has a name of its own, a summary and its roles; every body has an example', () => {
  const ids: string[] = []
  for (const item of Object.values(
    JSON.parse(committed).paths as Record<string, Record<string, Described>>,
  )) {
    for (const operation of Object.values(item)) {
      ids.push(operation.operationId)
      expect(operation.summary).not.toBe('')
      expect(operation.description).toMatch(/Roles: /)
      if (operation.requestBody !== undefined) {
        const { schema } = operation.requestBody.content['application/json']
        expect(resolve(schema).examples, operation.operationId).toHaveLength(1)
      }
    }
  }
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.length).toBeGreaterThan(40)
})

interface Described {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } }
}

interface Schema {
  readonly $ref?: string
  readonly examples?: readonly unknown[]
}

function resolve(schema: Schema): Schema {
  const name = schema.$ref?.replace('#/components/schemas/', '')
  return name === undefined ? schema : JSON.parse(committed).components.schemas[name]
}
