import asyncio
import sys

from aiohttp_retry import RetryClient


async def main(method, url):
    async with RetryClient() as client, client.request(method, url) as answer:
        await answer.read()
        answer.raise_for_status()


asyncio.run(main(*sys.argv[1:]))
