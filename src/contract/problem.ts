import { z } from 'zod'

/** An error in the format of RFC 9457, with a stable code. */
export const problemShape = z
  .object({
    type: z.string().meta({ description: 'Link to the explanation of the code.' }),
    title: z.string(),
    status: z.int(),
    detail: z.string().meta({ description: 'What happened, to what, and what to do.' }),
    code: z.string().meta({ description: 'Stable; listed in docs/errors.md.' }),
    requestId: z.string(),
    problems: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .optional()
      .meta({ description: 'Each invalid field.' }),
  })
  .meta({
    id: 'Problem',
    examples: [
      {
        type: 'https://holdfast.dev/errors#endpoint_not_found',
        title: 'Not Found',
        status: 404,
        detail: 'There is no endpoint named "crm". List them with: holdfast endpoints list',
        code: 'endpoint_not_found',
        requestId: 'req-3f9a1c',
      },
    ],
  })

export type ProblemDocument = z.output<typeof problemShape>
