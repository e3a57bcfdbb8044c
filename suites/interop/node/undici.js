import { Agent, RetryAgent, request } from 'undici';

const [method, url] = process.argv.slice(2);
const answer = await request(url, { method, dispatcher: new RetryAgent(new Agent()) });
await answer.body.text();
if (answer.statusCode >= 400) process.exitCode = 1;
