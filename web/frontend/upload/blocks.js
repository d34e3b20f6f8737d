// How a file is cut: blocks of one size, each with an id that says only its place, so that any browser finds them again.

/** The base64 of a six-digit number: eight letters and digits, the same length for every block. */
export const blockId = (index) => btoa(String(index).padStart(6, "0"));

export function blocksOf(size, blockSize) {
  const count = Math.ceil(size / blockSize);
  return Array.from({ length: count }, (_, index) => {
    const start = index * blockSize;
    return { id: blockId(index), start, size: Math.min(blockSize, size - start) };
  });
}

/** Those of `blocks` that the server has not, or not whole. */
export function missing(blocks, here) {
  const sizes = new Map(here.map(({ id, size }) => [id, size]));
  return blocks.filter(({ id, size }) => sizes.get(id) !== size);
}
