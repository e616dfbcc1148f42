import { z } from 'zod'
import { joinAsJsonArray } from '../json-array.ts'
import { parseTransformConfig } from '../parse-config.ts'
import type { CompiledTransform, Transform, TransformInput, TransformResult } from '../transform.ts'

const noneConfig = z.strictObject({ type: z.literal('none').optional() })

/** Sends the event unchanged, byte for byte. @example noneTransform().compile({ type: 'none' }) */
export function noneTransform(): Transform {
  return { name: 'none', compile }
}

function compile(config: unknown): CompiledTransform {
  parseTransformConfig(noneConfig, config)
  return {
    isCacheable: true,
    render: (input: TransformInput) => asJson(input.body),
    renderBatch: (inputs) => asJson(joinAsJsonArray(inputs.map(({ body }) => body))),
    close: async () => {},
  }
}

function asJson(body: string): TransformResult {
  return { ok: true, rendered: { body, contentType: 'application/json', headers: {} } }
}
