import { z } from 'zod'

/** RFC 9457: what went wrong, with a stable code. */
export const problemShape = z
  .object({
    type: z.string().meta({ description: 'Where the code is explained.' }),
    title: z.string(),
    status: z.int(),
    detail: z.string().meta({ description: 'What happened, to what, and what to do.' }),
    code: z.string().meta({ description: 'Stable; one of docs/errors.md.' }),
    requestId: z.string(),
    problems: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .optional()
      .meta({ description: 'Each place that is wrong.' }),
  })
  .meta({
    id: 'Problem',
    examples: [
      {
        type: 'https://holdfast.dev/errors#endpoint_not_found',
        title: 'Not Found',
        status: 404,
        detail: 'There is no endpoint named "crm". List what exists with: holdfast endpoints list',
        code: 'endpoint_not_found',
        requestId: 'req-3f9a1c',
      },
    ],
  })

export type ProblemDocument = z.output<typeof problemShape>
