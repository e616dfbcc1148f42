import { compileCaliper } from '../caliper/caliper-transform.ts'
import type { TransformInput } from '../transform.ts'
import { compileXapi } from '../xapi/xapi-transform.ts'
import { LearningError } from './learning-error.ts'
import type { LearningOptions } from './learning-transform.ts'
import { traceFields } from './trace-fields.ts'

export interface LearningExplanation {
  readonly xapi: readonly object[] | null
  readonly caliper: readonly object[] | null
  /** Why the event results in nothing; null if it results in something. */
  readonly skipped: string | null
  /** Why a format has no result for the event, with the error code that a delivery would have. */
  readonly errors: Readonly<
    Partial<Record<'xapi' | 'caliper', { readonly code: string; readonly message: string }>>
  >
  /** The fields of the event, or the settings, that each field came from. */
  readonly from: Readonly<Record<string, string>>
}

/** Defaults for settings that the configuration leaves out. */
export const exampleConfig = {
  platformUrl: 'https://platform.example',
  actor: { type: 'account', from: 'hash', key: 'example key, for explaining only' },
  courses: { from: 'none' },
} as const

type Format = 'xapi' | 'caliper'
type Items = (event: unknown, config: object) => Promise<readonly object[]>

/** The result of an event in both formats, and the source of each field. */
export async function explainEvent(
  event: unknown,
  given: Readonly<Record<string, unknown>>,
  options: LearningOptions,
): Promise<LearningExplanation> {
  const config: Readonly<Record<string, unknown>> = { ...exampleConfig, ...given }
  const made: Record<Format, readonly object[] | null> = { xapi: null, caliper: null }
  const errors: Partial<Record<Format, { code: string; message: string }>> = {}
  const from: Record<string, string> = {}
  for (const format of ['xapi', 'caliper'] as const) {
    const items = itemsOf(format, options)
    try {
      made[format] = await items(event, config)
      Object.assign(from, await traceFields(format, event, config, items))
    } catch (error) {
      if (!(error instanceof LearningError)) throw error
      errors[format] = { code: error.code, message: error.message }
    }
  }
  const isNothing = made.xapi === null && made.caliper === null
  return { ...made, skipped: isNothing ? reasonOf(errors) : null, errors, from }
}

function reasonOf(errors: LearningExplanation['errors']): string {
  const messages = new Set(
    [errors.xapi?.message, errors.caliper?.message].filter((text) => text !== undefined),
  )
  return [...messages].join(' ')
}

function itemsOf(format: Format, options: LearningOptions): Items {
  const compile = format === 'xapi' ? compileXapi : compileCaliper
  return async (event, config) => compile({ ...config, type: format }, options).items(inputOf(event))
}

function inputOf(event: unknown): TransformInput {
  return {
    messageId: 'msg_0',
    deliveryId: 'dlv_0',
    eventType: null,
    tenant: null,
    correlationId: null,
    endpoint: 'explain',
    attempt: 1,
    createdAtMs: 0,
    nowMs: 0,
    headers: {},
    metadata: null,
    body: JSON.stringify(event) ?? 'null',
  }
}
