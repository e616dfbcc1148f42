import { HoldfastError } from '../../core/errors.ts'
import type { Holdfast } from '../../sdk/holdfast.ts'

export const inboxName = 'inbox'
/** Marks our endpoint: a user's own endpoint with the same name is left unchanged. */
const inboxTag = 'dev-inbox'

/** Points the endpoint `inbox` at this process's receiver. False if a user's own endpoint has that name. */
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
  // Failures from before this receiver started don't count.
  await holdfast.endpoints.resetCircuit(inboxName)
  return true
}
