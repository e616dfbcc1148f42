import { HoldfastError } from '../../core/errors.ts'
import type { Holdfast } from '../../sdk/holdfast.ts'

export const inboxName = 'inbox'
/** Marks the endpoint as ours: one that a person made under the same name is left alone. */
const inboxTag = 'dev-inbox'

/** Points the endpoint `inbox` at this process's receiver. False when a person's own endpoint has the name. */
export async function ensureInbox(holdfast: Holdfast, url: string): Promise<boolean> {
  try {
    await holdfast.endpoints.create({
      name: inboxName,
      transport: 'http',
      tags: [inboxTag],
      preset: 'development',
      eventTypes: ['**'],
      config: { url },
    })
    return true
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== 'endpoint_exists') throw error
  }
  const existing = await holdfast.endpoints.get(inboxName)
  if (!existing.tags.includes(inboxTag)) return false
  await holdfast.endpoints.update(inboxName, { config: { url }, eventTypes: ['**'] })
  // Failures from when there was no receiver say nothing about this one.
  await holdfast.endpoints.resetCircuit(inboxName)
  return true
}
