// Reports a driver's status to the backend: what may pass is tried four times, what will not pass is not.
import { randomUUID } from 'node:crypto';
import axios from 'axios';
import axiosRetry from 'axios-retry';

const passing = [429, 500, 502, 503, 504];
const longest = 30_000; // ms, for the whole call
const began = Date.now();

// The wait that the backend asked for, in ms; 0 without one.
const asked = (error) => {
  const value = error.response?.headers['retry-after'] ?? '';
  const wait = /^\d+$/.test(value) ? value * 1000 : Date.parse(value) - Date.now();
  return wait > 0 ? wait : 0;
};

const client = axios.create({ timeout: 5_000, maxRedirects: 10, signal: AbortSignal.timeout(longest) });
axiosRetry(client, {
  retries: 3,
  shouldResetTimeout: true, // 5 s for each attempt
  retryCondition: (error) =>
    (error.response ? passing.includes(error.response.status) : !axios.isCancel(error)) &&
    Date.now() - began + asked(error) < longest,
  // Full jitter below 1, 2, 4 s, unless the backend asks for more.
  retryDelay: (count, error) => Math.max(asked(error), Math.random() * 1000 * 2 ** (count - 1)),
});

// The key tells the backend that an attempt is not a second report.
await client.post(process.argv[2], { driver: 17, status: 'free' }, { headers: { 'Idempotency-Key': randomUUID() } });
