/** Parsing is linear in the length, and happens in the main thread when a route is written. */
export const maxExpressionLength = 16 * 1024
export const defaultTimeoutMs = 100
export const maxTimeoutMs = 5000
/** An expression counts as timed out if it used the processor for this share of its time; otherwise the machine was busy. */
export const minUsedShare = 0.8
export const maxResultLength = 16 * 1024 * 1024
/** Heap limit of the process that evaluates expressions. */
export const maxHeapMegabytes = 128
/** JSONata's own limits stop most runaway expressions with a clear error, before the process must be killed. */
export const maxStackDepth = 1000
export const maxSequenceLength = 1_000_000
