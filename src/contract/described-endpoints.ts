import { z } from 'zod'
import { endpointInput } from '../core/endpoints/endpoint-input.ts'
import {
  amqpConfig,
  amqpConfigInput,
  functionConfig,
  functionConfigInput,
  httpConfig,
  httpConfigInput,
  smtpConfig,
  smtpConfigInput,
} from './described-configs.ts'
import { because } from './shapes.ts'

// An endpoint to readers of the OpenAPI document: its `transport` decides what its `config` is. What is checked is `endpointInput`, then the
// transport's own schema.

const { transport: _, config: __, ...common } = endpointInput.shape

/** An endpoint as a person writes it. */
export const describedEndpointInput = z
  .discriminatedUnion('transport', [
    z
      .strictObject({ ...common, transport: z.literal('http'), config: httpConfigInput })
      .meta({ id: 'HttpEndpointInput' }),
    z
      .strictObject({ ...common, transport: z.literal('function'), config: functionConfigInput.optional() })
      .meta({ id: 'FunctionEndpointInput' }),
    z
      .strictObject({ ...common, transport: z.literal('smtp'), config: smtpConfigInput })
      .meta({ id: 'SmtpEndpointInput' }),
    z
      .strictObject({ ...common, transport: z.literal('amqp'), config: amqpConfigInput })
      .meta({ id: 'AmqpEndpointInput' }),
  ])
  .meta({
    id: 'EndpointInput',
    // OpenAPI can tell the choices apart only if each names its transport; the API takes one without as `http`.
    description:
      'An endpoint; its `transport` decides what its `config` is. It may be left out: then it is `http`.',
    examples: [
      {
        name: 'crm',
        transport: 'http',
        config: { url: 'https://crm.example.com/hooks' },
        eventTypes: ['order.*'],
      },
    ],
  })

/** What may change of it. */
export const describedEndpointChanges = z
  .strictObject({
    ...common,
    transport: z.enum(['http', 'function', 'smtp', 'amqp']).optional(),
    config: z
      .union([
        httpConfigInput.partial().meta({ id: 'HttpConfigChanges' }),
        functionConfigInput.partial().meta({ id: 'FunctionConfigChanges' }),
        smtpConfigInput.partial().meta({ id: 'SmtpConfigChanges' }),
        amqpConfigInput.partial().meta({ id: 'AmqpConfigChanges' }),
      ])
      .optional(),
    ...because,
  })
  .omit({ name: true })
  .meta({ id: 'EndpointChanges', examples: [{ limits: { concurrency: 8 } }] })

/** An endpoint as it is shown, of which `common` is everything but its transport and config. */
export function describeShown<Common extends z.ZodRawShape>(name: string, common: Common) {
  const shown =
    'As the transport takes it. Secrets are never returned: `{"isSet": true}` stands in their place.'
  return z
    .discriminatedUnion('transport', [
      z
        .object({ ...common, transport: z.literal('http'), config: httpConfig.describe(shown) })
        .meta({ id: `Http${name}` }),
      z
        .object({ ...common, transport: z.literal('function'), config: functionConfig.describe(shown) })
        .meta({ id: `Function${name}` }),
      z
        .object({ ...common, transport: z.literal('smtp'), config: smtpConfig.describe(shown) })
        .meta({ id: `Smtp${name}` }),
      z
        .object({ ...common, transport: z.literal('amqp'), config: amqpConfig.describe(shown) })
        .meta({ id: `Amqp${name}` }),
    ])
    .meta({ id: name, description: 'An endpoint; its `transport` says what its `config` is.' })
}
