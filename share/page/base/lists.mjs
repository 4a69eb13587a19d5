// Lists and maps.

export const sum = (list) => list.reduce((a, b) => a + b, 0);

export function keep(map, key, what) {
    if (!map.has(key)) map.set(key, what());
    return map.get(key);
}
