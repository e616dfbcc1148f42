// Exports no handler.
export const something = 1
