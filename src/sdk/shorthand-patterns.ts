import { createHash } from 'node:crypto'
import type { EndpointSettings } from '../core/endpoints/endpoint-config.ts'
import { isCriticalLearningPattern } from '../core/routes/critical-learning-events.ts'
import { parseEventTypePattern } from '../core/routes/event-type-pattern.ts'
import type { ShorthandPattern } from '../storage/routes.ts'
import { invalidEndpoint } from './endpoint-errors.ts'

const criticalCode = 2
const maxRouteNameLength = 127

/** The routes for an endpoint's `eventTypes`; their names contain the endpoint and the pattern. */
export function shorthandPatterns(settings: EndpointSettings): ShorthandPattern[] {
  return [...new Set(settings.eventTypes)].map((text, index) => {
    const parsed = parseEventTypePattern(text)
    if (!parsed.ok) {
      const { message, position } = parsed.problem
      throw invalidEndpoint([
        { path: `eventTypes[${index}]`, message: `${message} (at position ${position})` },
      ])
    }
    return {
      ...parsed.value,
      name: shorthandName(settings.name, text),
      criticality: criticalityCodeOf(settings, text),
    }
  })
}

/** The `record-store` preset marks events that must not be lost as critical. */
function criticalityCodeOf({ preset }: EndpointSettings, pattern: string): number | null {
  return preset === 'record-store' && isCriticalLearningPattern(pattern) ? criticalCode : null
}

/** `crm:order.:any`; no event type has a colon. A pattern that doesn't fit in a name, or has capitals, is identified by its hash. */
function shorthandName(endpoint: string, pattern: string): string {
  const slug = pattern.toLowerCase().replaceAll('**', ':all').replaceAll('*', ':any')
  const name = `${endpoint}:${slug}`
  if (pattern === pattern.toLowerCase() && name.length <= maxRouteNameLength) return name
  const hash = createHash('sha256').update(pattern).digest('hex').slice(0, 12)
  return `${name.slice(0, maxRouteNameLength - hash.length - 1)}:${hash}`
}
