import { z } from 'zod'
import type { HoldfastClient } from '../../../client/holdfast-client.ts'
import { alertRuleFields, parseAlertRule } from '../../../core/alerts/alert-rule-input.ts'
import { isSame } from '../compare.ts'
import { type Fields, type Kind, writable } from '../kind.ts'

const schema = z.strictObject(alertRuleFields)

export const alertRuleKind: Kind = {
  list: 'alertRules',
  noun: 'alert rule',
  schema,
  merged: [],
  hasReferences: false,
  read: async (client) => (await client.alerts.listRules()).data.map((rule) => writable(rule, schema.shape)),
  check: async (fields) => {
    const parsed = parseAlertRule(fields)
    return parsed.ok ? [] : parsed.problems
  },
  create: async (client, name, fields) => {
    const { name: _, ...body } = fields
    await client.alerts.putRule({ params: { name }, body: body as unknown as RuleBody })
    return null
  },
  update: async (client, name, changes) => {
    const current = writable(await client.alerts.getRule({ params: { name } }), schema.shape)
    const { name: _, ...body } = { ...current.fields, ...changes }
    await client.alerts.putRule({ params: { name }, body: body as unknown as RuleBody })
    return null
  },
  delete: async (client, name) => {
    await client.alerts.deleteRule({ params: { name } })
  },
  toFile: (fields) => {
    const usual: Fields = schema.parse({
      name: fields['name'],
      kind: fields['kind'],
      threshold: fields['threshold'],
    })
    const needed = new Set(['name', 'kind', 'threshold'])
    return Object.fromEntries(
      Object.entries(fields).filter(([field, value]) => needed.has(field) || !isSame(value, usual[field])),
    )
  },
}

type RuleBody = Parameters<HoldfastClient['alerts']['putRule']>[0]['body']
