import { z } from 'zod'
import { field } from '../core/field.ts'
import { givenTime, queryNumber } from './shapes.ts'

/** Smaller pages for lists that can have millions of rows. */
export const tracePage = {
  limit: queryNumber(1, 500).default(50).meta({ description: 'Maximum number of results.' }),
  cursor: z.string().max(64).optional().meta({ description: 'The `nextCursor` of the previous page.' }),
}

export const timeFilter = {
  from: givenTime.optional().meta({ description: 'Inclusive.' }),
  to: givenTime.optional().meta({ description: 'Exclusive.' }),
}

export const messageFilter = {
  tenant: field.text(255).optional(),
  eventType: field
    .text(255)
    .optional()
    .meta({ description: '`order.created`, or `order.*` for all types with that prefix.' }),
  correlationId: field.text(255).optional(),
}

export const orderingKeyFilter = field.text(255).optional()

export const failureFilter = {
  endpoint: field.text(63).optional(),
  route: field.text(127).optional(),
  statusCode: queryNumber(100, 999).optional(),
  errorCode: field.text(100).optional(),
  error: field.text(500).optional().meta({ description: 'Part of the error text, case-insensitive.' }),
}
