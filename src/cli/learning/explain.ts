import type { Command } from 'commander'
import { HoldfastError } from '../../core/errors.ts'
import {
  exampleConfig,
  explainEvent,
  type LearningExplanation,
} from '../../transforms/learning/explain-event.ts'
import { TransformConfigError } from '../../transforms/transform.ts'
import { parseJson, readArgument } from '../input/read-json-argument.ts'
import type { Output } from '../output/output.ts'
import { formatTable } from '../output/table.ts'
import { openSession } from '../process/session.ts'

export async function explain(
  file: string,
  flags: { readonly config?: string },
  command: Command,
): Promise<void> {
  const { output } = await openSession(command)
  const event = parseJson(await readArgument(argumentOf(file)), 'The event', argumentOf(file))
  const config = flags.config === undefined ? {} : await readConfig(flags.config)
  const explanation = await explainEvent(event, config, { readTable: noTables, nowMs: Date.now }).catch(
    (error: unknown) => {
      if (!(error instanceof TransformConfigError)) throw error
      throw new HoldfastError(
        'invalid_route',
        `The settings in ${flags.config ?? 'the example'}: ${error.message}`,
      )
    },
  )
  const { xapi, caliper, skipped, from } = explanation
  output.data({ xapi, caliper, skipped, from }, () =>
    describe(explanation, output, flags.config === undefined),
  )
}

async function readConfig(path: string): Promise<Record<string, unknown>> {
  const value = parseJson(await readArgument(argumentOf(path)), 'The transform', argumentOf(path))
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw new HoldfastError('invalid_route', `The transform in ${path} must be a JSON object.`, { path })
}

/** File arguments have no `@` here, unlike those of other commands. */
function argumentOf(path: string): string {
  return path === '-' ? path : `@${path}`
}

/** Explaining needs no database: names from a table are shown as their keys. */
async function noTables(_table: string, keys: readonly string[]): Promise<ReadonlyMap<string, string>> {
  return new Map(keys.map((key) => [key, key]))
}

function describe(explanation: LearningExplanation, output: Output, isExample: boolean): string {
  const { xapi, caliper, errors, from } = explanation
  const part = (title: string, items: readonly object[] | null, error: { message: string } | undefined) =>
    `${output.paintData('bold', title)}\n${items === null ? (error?.message ?? '') : JSON.stringify(items, null, 2)}`
  const rows = Object.entries(from)
  return [
    part('xAPI', xapi, errors.xapi),
    part('Caliper', caliper, errors.caliper),
    ...(rows.length === 0
      ? []
      : [
          formatTable(
            [
              { title: 'FIELD', value: ([field]) => field },
              { title: 'FROM', value: ([, source]) => source },
            ],
            rows,
          ),
        ]),
    ...(isExample
      ? [`Made with example settings (${exampleConfig.platformUrl}). Give yours with --config.`]
      : []),
  ].join('\n\n')
}
