import { z } from 'zod'

/** A secret: the text to store, or the placeholder that is shown for a stored secret, which leaves it unchanged. */
export type SecretInput = string | { readonly isSet: true }

/** Only for the API's description; transports and transforms validate their secrets themselves. */
export const secretInput = z.union([z.string(), z.strictObject({ isSet: z.literal(true) })]).meta({
  id: 'SecretInput',
  description:
    'A secret: the text to store, or the placeholder that is shown for a stored secret, which leaves it unchanged.',
}) satisfies z.ZodType<unknown, SecretInput>
