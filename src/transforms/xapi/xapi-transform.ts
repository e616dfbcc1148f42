import { learningConfig } from '../learning/learning-config.ts'
import {
  type LearningFormat,
  type LearningOptions,
  LearningTransform,
} from '../learning/learning-transform.ts'
import { parseTransformConfig } from '../parse-config.ts'
import type { Transform } from '../transform.ts'
import { isXapiKind } from './kinds.ts'
import { makeStatements } from './make-statements.ts'
import type { Statement } from './statement.ts'

const xapiConfig = learningConfig('xapi')

/**
 * Converts tracking events of a learning platform to xAPI 1.0.3 statements.
 *
 * @example
 * xapiTransform(options).compile({ platformUrl: 'https://learn.example', actor: { from: 'map', map: { ada: '7f…' } } })
 */
export function xapiTransform(options: LearningOptions): Transform {
  return { name: 'xapi', secrets: [['actor', 'key']], compile: (config) => compileXapi(config, options) }
}

export function compileXapi(config: unknown, options: LearningOptions) {
  const settings = parseTransformConfig(xapiConfig, config)
  return new LearningTransform(settings, xapiFormat(settings.ids === 'compatible'), options)
}

function xapiFormat(isCompatible: boolean): LearningFormat<Statement> {
  return {
    name: 'xAPI',
    isKind: isXapiKind,
    isCacheable: true,
    make: (ingredients) => makeStatements(ingredients, isCompatible),
    write: (statements) => {
      const sent = sentOnce(statements)
      return {
        body: JSON.stringify(sent),
        contentType: 'application/json',
        headers: { 'X-Experience-API-Version': '1.0.3' },
        ...(sent.length > 1 && { parts: () => sent.map((statement) => JSON.stringify([statement])) }),
      }
    },
  }
}

/** A record store refuses a batch that contains an id twice. */
function sentOnce(statements: readonly Statement[]): readonly Statement[] {
  if (statements.length <= 1) return statements
  const byId = new Map<string, Statement>()
  for (const statement of statements) if (!byId.has(statement.id)) byId.set(statement.id, statement)
  return byId.size === statements.length ? statements : [...byId.values()]
}
