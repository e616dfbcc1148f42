/** The parts of Caliper 1.2 that the transform creates. */

export interface Entity {
  readonly id: string
  readonly type: string
  readonly name?: string
  readonly duration?: string
  readonly currentTime?: string
  readonly extensions?: Readonly<Record<string, unknown>>
}

export interface CaliperEvent {
  readonly '@context': 'http://purl.imsglobal.org/ctx/caliper/v1p2'
  readonly id: string
  readonly type: string
  readonly action: string
  readonly actor: Entity
  readonly object: Entity
  readonly target?: Entity
  readonly generated?: Readonly<Record<string, unknown>>
  readonly eventTime: string
  readonly session?: Entity
  readonly extensions: Readonly<Record<string, unknown>>
}

export const caliperContext = 'http://purl.imsglobal.org/ctx/caliper/v1p2'

/** The fields that have a value. */
export function present(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  )
}
