import { z } from 'zod'
import { field } from '../core/field.ts'
import { TransformConfigError } from '../transforms/transform.ts'
import { compileSourceJson, compileSourceText } from './source-template.ts'

function problemOf(compile: () => unknown): string | null {
  try {
    compile()
    return null
  } catch (error) {
    if (error instanceof TransformConfigError) return error.message
    throw error
  }
}

function textTemplate(path: string) {
  return field.text(8_192).superRefine((text, context) => {
    const message = problemOf(() => compileSourceText(text, path))
    if (message !== null) context.addIssue({ code: 'custom', message })
  })
}

const optionalTemplate = (path: string) => textTemplate(path).nullable().default(null)

/** The fields of every source's config that say how its messages become events. */
export const mappingFields = (eventType: string) => ({
  eventType: textTemplate('eventType').default(eventType),
  payload: z
    .unknown()
    .superRefine((template, context) => {
      if (template === undefined || template === null) return
      const message = problemOf(() => compileSourceJson(template, 'payload'))
      if (message !== null) context.addIssue({ code: 'custom', message })
    })
    .default(null),
  tenant: optionalTemplate('tenant'),
  orderingKey: optionalTemplate('orderingKey'),
  correlationId: optionalTemplate('correlationId'),
  idempotencyKey: optionalTemplate('idempotencyKey'),
})

export interface MappingConfig {
  readonly eventType: string
  readonly payload: unknown
  readonly tenant: string | null
  readonly orderingKey: string | null
  readonly correlationId: string | null
  readonly idempotencyKey: string | null
}
