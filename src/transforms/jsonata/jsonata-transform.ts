import { createRequire } from 'node:module'
import type jsonata from 'jsonata'
import { z } from 'zod'
import { field } from '../../core/field.ts'
import { markExactNumbers, PayloadError, restoreExactNumbers } from '../exact-json.ts'
import { joinAsJsonArray } from '../json-array.ts'
import { parseTransformConfig } from '../parse-config.ts'
import {
  type CompiledTransform,
  type Transform,
  TransformConfigError,
  type TransformError,
  type TransformInput,
  type TransformResult,
} from '../transform.ts'
import { JsonataEvaluator } from './jsonata-evaluator.ts'
import { defaultTimeoutMs, maxExpressionLength, maxTimeoutMs } from './jsonata-limits.ts'

/** Loaded with the first expression: 11 MiB that most nodes don't need. */
const load = createRequire(import.meta.url)

const jsonataConfig = z.strictObject({
  type: z.literal('jsonata').optional(),
  expression: z.string({ error: 'must be the text of a JSONata expression' }),
  timeoutMs: field.wholeNumber(1, maxTimeoutMs).default(defaultTimeoutMs),
  batch: field.flag().default(false),
})

/** Functions whose result differs by recipient, attempt or time. `$eval` could contain any of them. */
const volatile = /\$(?:now|millis|random|shuffle|eval|attempt|deliveryId|endpoint|messages)\b/

/**
 * JSONata, evaluated in a separate process that is killed when it takes too long or too much memory. All expressions of a
 * transform share one process; it starts with the first message and ends when the last compiled expression is closed, or `idleMs` later.
 *
 * @example
 * jsonataTransform().compile({ expression: '{ "total": $sum(lines.(price * quantity)) }' })
 */
export function jsonataTransform({ idleMs = 0 }: { readonly idleMs?: number } = {}): Transform {
  const evaluator = new JsonataEvaluator()
  const open = new Set<symbol>()
  let timer: NodeJS.Timeout | undefined
  const stopLater = (): void => {
    clearTimeout(timer)
    timer = setTimeout(() => open.size === 0 && evaluator.stop(), idleMs).unref()
  }
  return {
    name: 'jsonata',
    compile(config) {
      const { expression, timeoutMs, batch } = parseTransformConfig(jsonataConfig, config)
      refuseBadSyntax(expression)
      const handle = Symbol('jsonata')
      open.add(handle)

      async function evaluate(payload: string, variables: Record<string, unknown>): Promise<TransformResult> {
        let exact: string
        try {
          exact = markExactNumbers(payload)
        } catch (error) {
          if (error instanceof PayloadError)
            return { ok: false, error: { code: error.code, message: error.message } }
          throw error
        }
        const outcome = await evaluator.evaluate(expression, timeoutMs, {
          payload: exact,
          variables,
        })
        if (outcome.ok) return json(restoreExactNumbers(outcome.json))
        const { code, message, isRetryable } = outcome
        return {
          ok: false,
          error: { code, message: restoreExactNumbers(message), ...(isRetryable && { isRetryable }) },
        }
      }

      async function renderWhole(inputs: readonly TransformInput[]): Promise<TransformResult> {
        const bodies = inputs.map(({ body }) => body)
        return evaluate(joinAsJsonArray(bodies), {
          endpoint: inputs[0]?.endpoint ?? null,
          messages: inputs.map(variablesOf),
        })
      }

      async function renderEach(inputs: readonly TransformInput[]): Promise<TransformResult> {
        const results = await Promise.all(
          inputs.map(async (input) => evaluate(input.body, variablesOf(input))),
        )
        const bodies: string[] = []
        const refused: TransformError[] = []
        for (const [index, result] of results.entries()) {
          if (result.ok) bodies.push(result.rendered.body)
          else refused.push({ ...result.error, index })
        }
        return { ...json(joinAsJsonArray(bodies)), refused }
      }

      return {
        isCacheable: !volatile.test(expression),
        render: async (input) => (batch ? renderWhole([input]) : evaluate(input.body, variablesOf(input))),
        renderBatch: async (inputs) => (batch ? renderWhole(inputs) : renderEach(inputs)),
        close: async () => {
          if (!open.delete(handle) || open.size > 0) return
          if (idleMs === 0) evaluator.stop()
          else stopLater()
        },
      } satisfies CompiledTransform
    },
  }
}

function variablesOf(input: TransformInput): Record<string, unknown> {
  const { messageId, deliveryId, eventType, tenant, correlationId, endpoint, attempt, headers, metadata } =
    input
  const createdAt = new Date(input.createdAtMs).toISOString()
  return {
    messageId,
    deliveryId,
    eventType,
    tenant,
    correlationId,
    endpoint,
    attempt,
    createdAt,
    headers,
    metadata: metadata ?? {},
  }
}

function refuseBadSyntax(expression: string): void {
  if (expression.trim() === '')
    throw new TransformConfigError('expression', 'expression is empty. Use "$" for the event as it is.', 0)
  if (expression.length > maxExpressionLength) {
    const message = `expression is longer than ${maxExpressionLength} characters.`
    throw new TransformConfigError('expression', message, maxExpressionLength)
  }
  try {
    const parse = load('jsonata') as typeof jsonata
    parse(expression)
  } catch (error) {
    if (error instanceof RangeError)
      throw new TransformConfigError('expression', 'expression is nested too deep.', null)
    const { message, position } = error as Partial<jsonata.JsonataError>
    const place = position === undefined ? '' : `, at offset ${position}`
    throw new TransformConfigError(
      'expression',
      `expression is not valid JSONata: ${message ?? String(error)}${place}.`,
      position ?? null,
    )
  }
}

function json(body: string): TransformResult & { readonly ok: true } {
  return { ok: true, rendered: { body, contentType: 'application/json', headers: {} } }
}
