import { z } from 'zod'
import { endpointInput } from '../core/endpoints/endpoint-input.ts'
import { transportDescriptions } from '../transports/descriptions.ts'
import { because } from './shapes.ts'

// An endpoint as the OpenAPI document describes it: its `transport` determines its `config`. The validation uses `endpointInput`, then the
// transport's own schema.

const { transport: _, config: __, ...common } = endpointInput.shape

type Choices = [z.ZodObject, ...z.ZodObject[]]

/** One schema for each transport, with its name. */
function forEachTransport(
  make: (described: (typeof transportDescriptions)[number], prefix: string) => z.ZodObject,
) {
  const schemas = transportDescriptions.map((described) =>
    make(described, `${described.name.charAt(0).toUpperCase()}${described.name.slice(1)}`),
  )
  return schemas as Choices
}

const own =
  'Your own transports are not described here: their names contain a hyphen, and their `config` has the fields that they define.'

/** An endpoint as given by a user. */
export const describedEndpointInput = z
  .discriminatedUnion(
    'transport',
    forEachTransport(({ name, config, isConfigOptional }, prefix) =>
      z
        .strictObject({
          ...common,
          transport: z.literal(name),
          config: isConfigOptional === true ? config.optional() : config,
        })
        .meta({ id: `${prefix}EndpointInput` }),
    ),
  )
  .meta({
    id: 'EndpointInput',
    // OpenAPI can distinguish the variants only if each names its transport; the API treats an endpoint without one as `http`.
    description: `An endpoint. \`transport\` determines the fields of \`config\`; the default is \`http\`. ${own}`,
    examples: transportDescriptions.map(({ example }) => example),
  })

/** The changes of an update. */
export const describedEndpointChanges = z
  .strictObject({
    ...common,
    transport: z.enum(transportDescriptions.map(({ name }) => name)).optional(),
    config: z
      .union(
        forEachTransport(({ config }, prefix) => config.partial().meta({ id: `${prefix}ConfigChanges` })),
      )
      .optional(),
    ...because,
  })
  .omit({ name: true })
  .meta({ id: 'EndpointChanges', examples: [{ limits: { concurrency: 8 } }] })

/** An endpoint as responses show it; `common` is everything but its transport and config. */
export function describeShown(name: string, common: z.ZodRawShape) {
  return z
    .discriminatedUnion(
      'transport',
      forEachTransport((described, prefix) =>
        z
          .object({ ...common, transport: z.literal(described.name), config: shownConfig(described, prefix) })
          .meta({ id: `${prefix}${name}` }),
      ),
    )
    .meta({ id: name, description: `An endpoint. \`transport\` determines the fields of \`config\`. ${own}` })
}

/** A newer version may show more fields. */
function shownConfig({ config }: (typeof transportDescriptions)[number], prefix: string): z.ZodType {
  const known = shownConfigs.get(prefix)
  const schema = known ?? z.object({ ...config.shape, timeoutMs: z.int() }).meta({ id: `${prefix}Config` })
  shownConfigs.set(prefix, schema)
  return schema.describe(
    'The transport\'s configuration. Secrets are never returned; `{"isSet": true}` is returned instead.',
  )
}

const shownConfigs = new Map<string, z.ZodObject>()
