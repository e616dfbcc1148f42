import { z } from 'zod'
import { permissions, roles } from '../core/access/roles.ts'
import { field } from '../core/field.ts'
import { defineOperation } from './define-operation.ts'
import { jsonObject, listOf, pageQuery, timestamp } from './shapes.ts'

const apiKeyInput = z
  .strictObject({
    name: field
      .text(100)
      .meta({ description: 'The person or system that uses the key; shown in the audit log.' }),
    role: z.enum(roles, { error: `must be one of ${roles.join(', ')}` }),
    expiresInMs: field
      .wholeNumber(60_000, 10 * 366 * 86_400_000)
      .nullable()
      .optional()
      .meta({ description: 'Null if the key does not expire.' }),
  })
  .meta({ id: 'ApiKeyInput', examples: [{ name: 'shop', role: 'publisher', expiresInMs: null }] })

const apiKeyShape = z
  .object({
    id: z.string(),
    name: z.string(),
    role: z.enum(roles),
    createdAt: timestamp,
    createdBy: z.string(),
    expiresAt: timestamp.nullable(),
    lastUsedAt: timestamp.nullable().meta({ description: 'Rounded to the minute.' }),
    revokedAt: timestamp.nullable(),
  })
  .meta({ id: 'ApiKey' })

const auditEntry = z
  .object({
    id: z.string(),
    at: timestamp,
    actor: z.string().meta({ description: 'The actor: `key:<name>`, `cli:<user>`, `node:<name>` …' }),
    action: z.string(),
    subject: z.string(),
    detail: jsonObject.meta({
      description: 'With `before` and `after` where something changed; secrets redacted.',
    }),
  })
  .meta({ id: 'AuditEntry' })

export const accessOperations = {
  whoAmI: defineOperation({
    id: 'whoAmI',
    method: 'GET',
    path: '/v1/me',
    tag: 'Access',
    summary: 'Get the calling API key and its permissions',
    permission: 'any',
    result: z
      .object({
        name: z.string(),
        role: z.enum(roles),
        permissions: z.array(z.enum(permissions)),
        version: z.string(),
        environment: z.string().nullable().meta({
          description: '`HOLDFAST_ENVIRONMENT`: the name of this installation, like `production`.',
        }),
      })
      .meta({ id: 'Identity' }),
  }),
  listKeys: defineOperation({
    id: 'listApiKeys',
    method: 'GET',
    path: '/v1/api-keys',
    tag: 'Access',
    summary: 'List API keys',
    permission: 'administer',
    query: z.strictObject(pageQuery),
    result: listOf(apiKeyShape),
  }),
  createKey: defineOperation({
    id: 'createApiKey',
    method: 'POST',
    path: '/v1/api-keys',
    tag: 'Access',
    summary: 'Create an API key',
    description:
      'The response is the only place where the key itself is returned; therefore no result is stored under an Idempotency-Key.',
    permission: 'administer',
    body: apiKeyInput,
    status: 201,
    result: apiKeyShape
      .extend({ key: z.string().meta({ description: 'Returned only once.' }) })
      .meta({ id: 'CreatedApiKey' }),
    errors: ['api_key_exists'],
    keepsResult: false,
  }),
  revokeKey: defineOperation({
    id: 'revokeApiKey',
    method: 'DELETE',
    path: '/v1/api-keys/{id}',
    tag: 'Access',
    summary: 'Revoke an API key',
    permission: 'administer',
    params: z.object({
      id: z
        .string()
        .max(64)
        .meta({ examples: ['a1b2c3d4e5'] }),
    }),
    result: apiKeyShape,
    errors: ['api_key_not_found'],
  }),
  endSessions: defineOperation({
    id: 'endSessions',
    method: 'DELETE',
    path: '/v1/sessions',
    tag: 'Access',
    summary: 'Sign out all users',
    description:
      "Ends every session, including the caller's own, the streams opened by these sessions, and unused sign-in links. Other nodes follow within 5 s.",
    permission: 'administer',
    query: z.strictObject({
      keyId: field
        .text(64)
        .optional()
        .meta({
          description: 'End only the sessions that were started with this API key.',
          examples: ['a1b2c3d4e5'],
        }),
    }),
    result: z
      .object({ ended: z.int().meta({ description: 'Number of sessions that were ended.' }) })
      .meta({ id: 'EndedSessions' }),
  }),
  audit: defineOperation({
    id: 'listAudit',
    method: 'GET',
    path: '/v1/audit',
    tag: 'Access',
    summary: 'List audit log entries, newest first',
    permission: 'administer',
    query: z.strictObject({
      ...pageQuery,
      subject: field
        .text(255)
        .optional()
        .meta({ examples: ['endpoint:crm'] }),
      action: field.text(100).optional(),
      actor: field.text(255).optional(),
    }),
    result: listOf(auditEntry),
  }),
}
