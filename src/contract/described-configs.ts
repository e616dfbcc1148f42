import { z } from 'zod'
import type {
  AmqpConfig,
  AmqpConfigInput,
  AmqpPropertiesInput,
  AuthInput,
  FunctionConfig,
  FunctionConfigInput,
  HttpConfig,
  HttpConfigInput,
  SecretInput,
  SigningInput,
  SmtpConfig,
  SmtpConfigInput,
  TlsInput,
} from '../core/endpoints/transport-configs.ts'
import type {
  CaliperTransformInput,
  CloudeventsTransformInput,
  JsonataTransformInput,
  LearningActorInput,
  LearningCoursesInput,
  LearningOverridesInput,
  NoneTransformInput,
  TemplateTransformInput,
  TransformConfigInput,
  XapiTransformInput,
} from '../core/routes/transform-configs.ts'

// What the parts of an input look like that the engine checks and not the API: transports and transforms read their own configuration. These
// schemas are for readers of the OpenAPI document. `satisfies` holds them to the types of the SDK, a test to what is checked.

const secretInput = z.union([z.string(), z.strictObject({ isSet: z.literal(true) })]).meta({
  id: 'SecretInput',
  description:
    'A secret: the text to store, or what stands in its place once it is stored, which means "as it is".',
}) satisfies z.ZodType<unknown, SecretInput>

const classify = z.record(z.string(), z.enum(['success', 'retryable', 'permanent', 'gone', 'throttled']))

export const signingInput = z
  .discriminatedUnion('scheme', [
    z
      .strictObject({ scheme: z.literal('standard-webhooks'), secret: secretInput.optional() })
      .meta({ id: 'StandardWebhooksSigning' }),
    z.strictObject({ scheme: z.literal('none') }).meta({ id: 'NoSigning' }),
  ])
  .meta({
    id: 'SigningInput',
    description: 'How receivers can tell that a request comes from you.',
  }) satisfies z.ZodType<unknown, SigningInput>

export const authInput = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('none') }).meta({ id: 'NoAuth' }),
    z
      .strictObject({ type: z.literal('basic'), username: z.string(), password: secretInput })
      .meta({ id: 'BasicAuth' }),
    z.strictObject({ type: z.literal('bearer'), token: secretInput }).meta({ id: 'BearerAuth' }),
    z
      .strictObject({ type: z.literal('apiKey'), header: z.string().optional(), key: secretInput })
      .meta({ id: 'ApiKeyAuth' }),
    z
      .strictObject({
        type: z.literal('oauth2'),
        tokenUrl: z.string(),
        clientId: z.string(),
        clientSecret: secretInput,
        scope: z.string().optional(),
        audience: z.string().optional(),
        sendCredentialsIn: z.enum(['header', 'body']).optional(),
      })
      .meta({ id: 'OAuth2Auth' }),
  ])
  .meta({ id: 'AuthInput', description: 'How the receiver is told who calls.' }) satisfies z.ZodType<
  unknown,
  AuthInput
>

export const tlsInput = z
  .strictObject({
    cert: z.string().optional(),
    key: secretInput.optional(),
    passphrase: secretInput.optional(),
    ca: z.string().optional(),
  })
  .meta({ id: 'TlsInput' }) satisfies z.ZodType<unknown, TlsInput>

export const httpConfigInput = z
  .strictObject({
    url: secretInput,
    method: z.enum(['POST', 'PUT', 'PATCH', 'DELETE', 'GET']).optional(),
    headers: z.record(z.string(), secretInput).optional(),
    plainHeaders: z.array(z.string()).max(64).optional(),
    timeoutMs: z.int().min(100).max(300_000).optional(),
    signing: signingInput.optional(),
    auth: authInput.optional(),
    tls: tlsInput.optional(),
    capture: z.enum(['none', 'errors', 'all']).optional(),
    maxResponseBytes: z.int().min(0).max(1_048_576).optional(),
    classify: classify.optional(),
  })
  .meta({ id: 'HttpConfigInput' }) satisfies z.ZodType<unknown, HttpConfigInput>

export const functionConfigInput = z
  .strictObject({
    handler: z.string().min(1).max(200).optional(),
    timeoutMs: z.int().min(100).max(300_000).optional(),
    classify: classify.optional(),
  })
  .meta({ id: 'FunctionConfigInput' }) satisfies z.ZodType<unknown, FunctionConfigInput>

export const smtpConfigInput = z
  .strictObject({
    to: z.array(z.string()).min(1).max(20),
    from: z.string().optional(),
    timeoutMs: z.int().min(100).max(300_000).optional(),
    classify: classify.optional(),
  })
  .meta({ id: 'SmtpConfigInput' }) satisfies z.ZodType<unknown, SmtpConfigInput>

const amqpProperties = z
  .strictObject({
    contentType: z.string().optional(),
    contentEncoding: z.string().optional(),
    priority: z.int().min(0).max(255).optional(),
    expirationMs: z.int().min(0).max(4_294_967_295).optional(),
    replyTo: z.string().optional(),
    type: z.string().optional(),
    appId: z.string().optional(),
    userId: z.string().optional(),
  })
  .meta({ id: 'AmqpPropertiesInput' }) satisfies z.ZodType<unknown, AmqpPropertiesInput>

export const amqpConfigInput = z
  .strictObject({
    url: secretInput,
    username: z.string().min(1).max(255).optional(),
    password: secretInput.optional(),
    exchange: z.string(),
    routingKey: z.string().max(8192).optional(),
    headers: z.record(z.string(), z.string()).optional(),
    properties: amqpProperties.optional(),
    persistent: z.boolean().optional(),
    mandatory: z.boolean().optional(),
    cloudEventsPrefix: z.enum(['cloudEvents:', 'cloudEvents_']).optional(),
    tls: tlsInput.optional(),
    timeoutMs: z.int().min(100).max(300_000).optional(),
    classify: classify.optional(),
  })
  .meta({ id: 'AmqpConfigInput' }) satisfies z.ZodType<unknown, AmqpConfigInput>

// As they are shown. A newer version may show more.

const shownTimeout = { timeoutMs: z.int() }

export const httpConfig = z
  .object({ ...httpConfigInput.shape, ...shownTimeout })
  .meta({ id: 'HttpConfig' }) satisfies z.ZodType<HttpConfig>

export const functionConfig = z
  .object({ ...functionConfigInput.shape, ...shownTimeout })
  .meta({ id: 'FunctionConfig' }) satisfies z.ZodType<FunctionConfig>

export const smtpConfig = z
  .object({ ...smtpConfigInput.shape, ...shownTimeout })
  .meta({ id: 'SmtpConfig' }) satisfies z.ZodType<SmtpConfig>

export const amqpConfig = z
  .object({ ...amqpConfigInput.shape, ...shownTimeout })
  .meta({ id: 'AmqpConfig' }) satisfies z.ZodType<AmqpConfig>

const noneTransform = z
  .strictObject({ type: z.literal('none') })
  .meta({ id: 'NoneTransformInput' }) satisfies z.ZodType<unknown, NoneTransformInput>

const templateTransform = z
  .strictObject({
    type: z.literal('template'),
    template: z.unknown().optional(),
    missing: z.enum(['error', 'null', 'omit']).optional(),
    envelope: z.unknown().optional(),
  })
  .meta({ id: 'TemplateTransformInput' }) satisfies z.ZodType<unknown, TemplateTransformInput>

const jsonataTransform = z
  .strictObject({
    type: z.literal('jsonata'),
    expression: z.string().max(16_384),
    timeoutMs: z.int().min(1).max(5000).optional(),
    batch: z.boolean().optional(),
  })
  .meta({ id: 'JsonataTransformInput' }) satisfies z.ZodType<unknown, JsonataTransformInput>

const cloudeventsTransform = z
  .strictObject({
    type: z.literal('cloudevents'),
    mode: z.enum(['structured', 'binary']).optional(),
    source: z.string().max(2048),
    subject: z.string().max(2048).optional(),
    dataschema: z.string().max(2048).optional(),
    defaultEventType: z.string().max(255).optional(),
    extensions: z.record(z.string(), z.union([z.string(), z.int(), z.boolean()])).optional(),
  })
  .meta({ id: 'CloudeventsTransformInput' }) satisfies z.ZodType<unknown, CloudeventsTransformInput>

const nameMap = z.record(z.string(), z.string())
const learningActor = z
  .strictObject({
    type: z.enum(['account', 'mbox', 'mbox_sha1sum']).optional(),
    from: z.enum(['hash', 'map', 'table']),
    identifier: z.enum(['username', 'user_id']).optional(),
    key: secretInput.optional(),
    map: nameMap.optional(),
    table: z.string().optional(),
  })
  .meta({ id: 'LearningActorInput' }) satisfies z.ZodType<unknown, LearningActorInput>
const learningCourses = z
  .strictObject({
    from: z.enum(['map', 'table', 'none']),
    map: nameMap.optional(),
    table: z.string().optional(),
  })
  .meta({ id: 'LearningCoursesInput' }) satisfies z.ZodType<unknown, LearningCoursesInput>
const learningOverrides = z
  .strictObject({
    verb: z.unknown().optional(),
    object: z.unknown().optional(),
    extensions: z.unknown().optional(),
  })
  .meta({ id: 'LearningOverridesInput' }) satisfies z.ZodType<unknown, LearningOverridesInput>
const outcome = z.enum(['skip', 'dead']).optional()
const learning = {
  platformUrl: z.string().max(2000),
  actor: learningActor,
  courses: learningCourses.optional(),
  events: z.array(z.string()).max(200).optional(),
  overrides: learningOverrides.optional(),
  ids: z.enum(['holdfast', 'compatible']).optional(),
  onUnknown: outcome,
  onAnonymous: outcome,
  onInvalid: outcome,
}

export const xapiTransform = z
  .strictObject({ type: z.literal('xapi'), ...learning })
  .meta({ id: 'XapiTransformInput' }) satisfies z.ZodType<unknown, XapiTransformInput>

export const caliperTransform = z
  .strictObject({ type: z.literal('caliper'), ...learning })
  .meta({ id: 'CaliperTransformInput' }) satisfies z.ZodType<unknown, CaliperTransformInput>

export const transformConfigInput = z
  .discriminatedUnion('type', [
    noneTransform,
    templateTransform,
    jsonataTransform,
    cloudeventsTransform,
    xapiTransform,
    caliperTransform,
  ])
  .meta({
    id: 'TransformConfigInput',
    description: 'What shape an event gets on its way along a route.',
  }) satisfies z.ZodType<unknown, TransformConfigInput>
