import { z } from 'zod'
import type { CommonEndpointInput } from '../../core/endpoints/common-endpoint-input.ts'
import { field } from '../../core/field.ts'
import {
  type AttemptClassName,
  classify,
  describeTransport,
  sqlCommon,
  timeoutMs,
} from '../transport-description.ts'

/** The `config` of an endpoint whose transport is `function`. */
export interface FunctionConfigInput {
  /** The name under which the handler is registered; by default the endpoint's name. */
  readonly handler?: string | undefined
  /** The deadline of the handler, in milliseconds; 10,000 by default. */
  readonly timeoutMs?: number | undefined
  /** Has no effect: a handler returns no statuses. */
  readonly classify?: Readonly<Record<string, AttemptClassName>> | undefined
}

/** An endpoint that is a handler in a process of yours. */
export interface FunctionEndpointInput extends CommonEndpointInput {
  /** The transport. */
  readonly transport: 'function'
  /** The handler. */
  readonly config?: FunctionConfigInput | undefined
}

const config = z
  .strictObject({
    handler: z.string().min(1).max(200).optional(),
    timeoutMs,
    classify,
  })
  .meta({ id: 'FunctionConfigInput' }) satisfies z.ZodType<unknown, FunctionConfigInput>

export const functionDescription = describeTransport<FunctionEndpointInput>({
  name: 'function',
  sendsTo: 'a handler in the same process, registered with the SDK',
  config,
  isConfigOptional: true,
  example: { name: 'welcome-mail', transport: 'function', config: { handler: 'mailer' } },
  flags: [
    {
      flag: '--handler <name>',
      sets: 'handler',
      about: "the handler that the function transport calls (default: the endpoint's name)",
    },
  ],
  sqlConfig: z.strictObject({ handler: field.text(200).optional(), ...sqlCommon }),
  targetOf: ({ handler }) => (handler === undefined ? undefined : `function ${handler}`),
})
