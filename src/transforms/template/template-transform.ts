import { z } from 'zod'
import { PayloadError } from '../exact-json.ts'
import { joinAsJsonArray } from '../json-array.ts'
import { noneTransform } from '../none/none-transform.ts'
import { parseTransformConfig } from '../parse-config.ts'
import type {
  CompiledTransform,
  Transform,
  TransformError,
  TransformInput,
  TransformResult,
} from '../transform.ts'
import { type CompiledTemplate, compileTemplate, TemplateRenderError } from './compile-template.ts'
import { parseTemplate } from './parse-template.ts'
import { BatchScope, MessageScope, type TemplateScope } from './template-scope.ts'

const templateConfig = z.strictObject({
  type: z.literal('template').optional(),
  template: z.unknown().optional(),
  missing: z.enum(['error', 'null', 'omit'], { error: 'must be "error", "null" or "omit"' }).default('error'),
  envelope: z.unknown().optional(),
})

/**
 * JSON with placeholders.
 *
 * @example
 * templateTransform().compile({ template: { id: '{{ order.id }}', note: 'from {{ shop ?? "the web" }}' } })
 */
export function templateTransform(): Transform {
  return { name: 'template', compile }
}

function compile(config: unknown): CompiledTransform {
  const { template, missing, envelope } = parseTransformConfig(templateConfig, config)
  const message = isEmpty(template)
    ? null
    : compileTemplate(parseTemplate(template, 'template'), missing, 'message')
  const wrapper = isEmpty(envelope)
    ? null
    : compileTemplate(parseTemplate(envelope, 'envelope'), missing, 'batch')
  const raw = noneTransform().compile({})

  function renderBody(input: TransformInput): TransformResult {
    if (message === null) return raw.render(input) as TransformResult
    return write(message, new MessageScope(input))
  }

  function renderBatch(inputs: readonly TransformInput[]): TransformResult {
    const bodies: string[] = []
    const refused: TransformError[] = []
    let first: TransformInput | null = null
    for (const [index, input] of inputs.entries()) {
      const result = renderBody(input)
      if (result.ok) {
        first ??= input
        bodies.push(result.rendered.body)
      } else refused.push({ ...result.error, index })
    }
    const whole =
      wrapper === null || first === null
        ? json(joinAsJsonArray(bodies))
        : write(wrapper, new BatchScope(first, bodies))
    return whole.ok ? { ...whole, refused } : whole
  }

  return {
    isCacheable: message?.isCacheable ?? true,
    render: renderBody,
    renderBatch,
    close: async () => {},
  }
}

function write(template: CompiledTemplate, scope: TemplateScope): TransformResult {
  try {
    return json(template.render(scope) ?? 'null')
  } catch (error) {
    if (error instanceof TemplateRenderError || error instanceof PayloadError) {
      return { ok: false, error: { code: error.code, message: error.message } }
    }
    throw error
  }
}

function json(body: string): TransformResult {
  return { ok: true, rendered: { body, contentType: 'application/json', headers: {} } }
}

function isEmpty(template: unknown): boolean {
  return (
    template === undefined || template === null || (typeof template === 'string' && template.trim() === '')
  )
}
