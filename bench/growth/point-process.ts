// The process of one measurement, so that every point has a fresh heap and a cold JIT.
import { curves } from './curves/all.ts'
import type { PointReply, PointRequest } from './measure-point.ts'

process.once('message', (request: PointRequest) => {
  void answer(request).then((reply) => process.send?.(reply, () => process.exit(0)))
})

async function answer({ curve: name, context }: PointRequest): Promise<PointReply> {
  const curve = curves.find((curve) => curve.name === name)
  try {
    if (curve === undefined) throw new Error(`There is no curve "${name}".`)
    return { kind: 'measured', measured: await curve.measure(context) }
  } catch (error) {
    return { kind: 'failed', reason: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}
