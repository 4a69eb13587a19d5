// Formats values of a metric.

import { grouped } from '../base/words.mjs';
import { metric } from './profile.mjs';

export const COUNT = { unit: '' };

export function amount(ticks, m = metric()) {
    const v = ticks / (m.hz || 1), a = Math.abs(v);
    if (m.unit !== 's')
        return (
            grouped(v, Number.isInteger(v) || a >= 100 ? 0 : 1)
            + (m.unit
                ? ' ' + (a === 1 ? m.unit.replace(/sses$/, 'ss').replace(/([^s])s$/, '$1') : m.unit)
                : '')
        );
    if (a === 0) return '0 s';
    const [scale, unit] =
        a >= 0.9995
            ? [1, 's']
            : a >= 0.9995e-3
              ? [1e3, 'ms']
              : a >= 0.9995e-6
                ? [1e6, '\u00b5s']
                : [1e9, 'ns'];
    return `${grouped(v * scale, a * scale >= 100 ? 1 : a * scale >= 10 ? 2 : 3)} ${unit}`;
}

export const signed = (ticks, m) => (ticks > 0 ? '+' : '') + amount(ticks, m);

export const seconds = (v) => amount(v, { unit: 's', hz: 1 });
