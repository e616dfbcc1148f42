/** Enough to spread lanes evenly over dozens of nodes, few enough to read all leases with one small query. */
export const shardCount = 256

/** The owner of a shard when no node is alive. */
export const noOwner = -1

export function shardOfLane(laneId: number): number {
  return laneId & (shardCount - 1)
}

/**
 * Which node should own each shard: the one with the highest weight for it. Every node computes the same result from
 * the same list, in whatever order, and a node that joins or leaves moves only its own shards. Node ids are 32-bit.
 */
export function preferredOwners(nodeIds: readonly number[]): Int32Array {
  const owners = new Int32Array(shardCount).fill(noOwner)
  for (let shard = 0; shard < shardCount; shard += 1) {
    let bestWeight = -1
    for (const nodeId of nodeIds) {
      const weight = weightOf(nodeId, shard)
      if (weight <= bestWeight) continue
      bestWeight = weight
      owners[shard] = nodeId
    }
  }
  return owners
}

/** Two nodes never have the same weight for a shard, because `mix` is invertible: equal results have equal inputs. */
function weightOf(nodeId: number, shard: number): number {
  return mix(nodeId ^ Math.imul(shard + 1, 0x9e3779b1))
}

/** Spreads each input bit over all 32 output bits (multiply and xor-shift). Node ids are consecutive, so this matters. */
function mix(value: number): number {
  let bits = Math.imul(value ^ (value >>> 16), 0x21f0aaad)
  bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97)
  return (bits ^ (bits >>> 15)) >>> 0
}
