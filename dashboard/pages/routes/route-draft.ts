import type { Answer, Input } from '../../api/call.ts'

export type Route = Answer<'routes.get'>
export type RouteBody = Input<'routes.update'>['body']

/** A route as its form holds it. */
export interface RouteDraft {
  readonly eventType: string
  readonly filter: string
  /** JSON text; empty: none. */
  readonly transform: string
  readonly endpoint: string
  readonly tenant: string
  readonly criticality: string
  readonly enabled: boolean
}

export const emptyDraft: RouteDraft = {
  eventType: '',
  filter: '',
  transform: '',
  endpoint: '',
  tenant: '',
  criticality: '',
  enabled: true,
}

export function draftOf(route: Route): RouteDraft {
  return {
    eventType: route.eventType,
    filter: route.filter ?? '',
    transform: route.transform === null ? '' : JSON.stringify(route.transform, null, 2),
    endpoint: route.endpoint,
    tenant: route.tenant ?? '',
    criticality: route.criticality ?? '',
    enabled: route.enabled,
  }
}

/** What is wrong before the server is asked, by field. */
export function draftProblems(draft: RouteDraft): Readonly<Partial<Record<keyof RouteDraft, string>>> {
  return {
    ...(draft.eventType.trim() === '' && { eventType: 'Enter an event type, or a pattern like order.*.' }),
    ...(draft.endpoint.trim() === '' && { endpoint: 'Choose an endpoint.' }),
    ...(transformOf(draft) === undefined && { transform: "The transform isn't JSON yet." }),
  }
}

function transformOf({ transform }: RouteDraft): Record<string, unknown> | null | undefined {
  if (transform.trim() === '') return null
  try {
    const value: unknown = JSON.parse(transform)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/** As the API takes it; null while something is wrong. */
export function bodyOf(draft: RouteDraft): RouteBody | null {
  if (Object.keys(draftProblems(draft)).length > 0) return null
  return {
    eventType: draft.eventType.trim(),
    filter: draft.filter.trim() === '' ? null : draft.filter.trim(),
    transform: transformOf(draft) ?? null,
    endpoint: draft.endpoint.trim(),
    tenant: draft.tenant.trim() === '' ? null : draft.tenant.trim(),
    criticality: draft.criticality === '' ? null : draft.criticality,
    enabled: draft.enabled,
  } as RouteBody
}

/** A transform for learning records may hold a key for hashing: such a one isn't kept in the browser. */
export function withoutSecrets<Kept extends Partial<RouteDraft>>(draft: Kept): Kept {
  const { transform, ...rest } = draft
  return transform?.includes('"key"') === true ? (rest as Kept) : draft
}

/** As text, for a diff. */
export function draftText({ transform, ...rest }: RouteDraft): string {
  const lines = Object.entries(rest).map(([field, value]) => `${field}: ${String(value)}`)
  return `${lines.join('\n')}\ntransform: ${transform === '' ? 'none' : `\n${transform}`}`
}
