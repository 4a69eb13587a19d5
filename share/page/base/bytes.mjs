// Unpacks the data of the page: base64 -> gzip -> blocks of JSON and of columns of numbers.

export function bytesOf(base64) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
    const raw = atob(base64.trim());
    const bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return bytes;
}

export async function inflate(bytes) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Decodes unsigned LEB128 numbers of `bytes` into `into`, from index `at` on. It multiplies, since
// shifts lose bits above 2^31.
export function varints(bytes, into, at = 0) {
    let from = 0;
    for (let i = at; i < into.length; i++) {
        let b = bytes[from++];
        if (b < 128) {
            into[i] = b;
            continue;
        }
        let value = b & 127, scale = 128;
        do {
            b = bytes[from++];
            value += (b & 127) * scale;
            scale *= 128;
        } while (b >= 128);
        into[i] = value;
    }
    if (from > bytes.length) throw new Error('a column ends too early');
    return into;
}

// Splits a block of the page into its JSON and its columns.
export function blocks(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    let at = 0;
    return () => {
        const size = view.getUint32(at, true), from = at + 4;
        at = from + size;
        if (at > bytes.length) throw new Error('the data end too early');
        return bytes.subarray(from, at);
    };
}
