import { PayloadError } from '../exact-json.ts'
import { joinAsJsonArray } from '../json-array.ts'
import { parseTransformConfig } from '../parse-config.ts'
import { TemplateRenderError } from '../template/compile-template.ts'
import type {
  CompiledTransform,
  Transform,
  TransformError,
  TransformInput,
  TransformResult,
} from '../transform.ts'
import { encodeAttributeHeader } from './attribute-header.ts'
import { type Attributes, type AttributesResult, cloudeventsConfig, compileAttributes } from './attributes.ts'

/**
 * CloudEvents 1.0 over HTTP: the event in an envelope (`structured`), or its attributes as headers (`binary`). The payload is
 * sent byte for byte in both. A batch is always structured, because the binding has no binary batch.
 *
 * @example
 * cloudeventsTransform().compile({ mode: 'binary', source: '/shop', subject: '{{ order.id }}' })
 */
export function cloudeventsTransform(): Transform {
  return { name: 'cloudevents', compile }
}

function compile(config: unknown): CompiledTransform {
  const settings = parseTransformConfig(cloudeventsConfig, config)
  const compiled = compileAttributes(settings)

  function attributesOf(input: TransformInput): AttributesResult {
    try {
      return compiled.of(input)
    } catch (error) {
      if (error instanceof PayloadError || error instanceof TemplateRenderError) {
        return { ok: false, error: { code: error.code, message: error.message } }
      }
      throw error
    }
  }

  function render(input: TransformInput): TransformResult {
    const result = attributesOf(input)
    if (!result.ok) return result
    const rendered =
      settings.mode === 'binary'
        ? { body: input.body, contentType: 'application/json', headers: headersOf(result.attributes) }
        : {
            body: envelope(result.attributes, input.body),
            contentType: `application/cloudevents+json${utf8}`,
            headers: {},
          }
    return { ok: true, rendered }
  }

  function renderBatch(inputs: readonly TransformInput[]): TransformResult {
    const events: string[] = []
    const refused: TransformError[] = []
    for (const [index, input] of inputs.entries()) {
      const result = attributesOf(input)
      if (result.ok) events.push(envelope(result.attributes, input.body))
      else refused.push({ ...result.error, index })
    }
    return {
      ok: true,
      refused,
      rendered: {
        body: joinAsJsonArray(events),
        contentType: `application/cloudevents-batch+json${utf8}`,
        headers: {},
      },
    }
  }

  return { isCacheable: compiled.isCacheable, render, renderBatch, close: async () => {} }
}

const utf8 = '; charset=utf-8'

function envelope(attributes: Attributes, body: string): string {
  const head = JSON.stringify(Object.fromEntries(attributes))
  return `${head.slice(0, -1)},"data":${body}}`
}

function headersOf(attributes: Attributes): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of attributes) {
    // In this mode the content type is the request's own header.
    if (name !== 'datacontenttype') headers[`ce-${name}`] = encodeAttributeHeader(String(value))
  }
  return headers
}
