import { type EventTypeInput, eventTypeInput } from '../../../core/routes/event-type-input.ts'
import { collect, type Kind, writable } from '../kind.ts'
import { withoutNulls } from '../without-nulls.ts'

export const eventTypeKind: Kind = {
  list: 'eventTypes',
  noun: 'event type',
  schema: eventTypeInput,
  merged: [],
  hasReferences: false,
  read: async (client) => {
    const types = await collect(client.paginate(client.eventTypes.list, { query: { limit: 1000 } }))
    return types.map((type) => writable(type, eventTypeInput.shape))
  },
  create: async (client, _name, fields) => {
    await client.eventTypes.create({ body: fields as EventTypeInput })
    return null
  },
  update: async (client, name, changes) => {
    const params = { name }
    const { description, schema, criticality } = await client.eventTypes.get({ params })
    await client.eventTypes.put({ params, body: { description, schema, criticality, ...changes } })
    return null
  },
  delete: async (client, name) => {
    await client.eventTypes.delete({ params: { name } })
  },
  toFile: withoutNulls,
}
