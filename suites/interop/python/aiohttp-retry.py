import asyncio

from aiohttp_retry import RetryClient


async def fetch(method, url):
    async with RetryClient() as client, client.request(method, url) as answer:
        await answer.read()
        answer.raise_for_status()


def call(method, url):
    asyncio.run(fetch(method, url))
