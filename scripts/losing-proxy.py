#!/usr/bin/env python3
"""A relay between a client and a service that loses one response.

Usage: losing-proxy.py PORT_OF_THE_SERVICE SWITCH
Prints the port on which it listens. While the file SWITCH exists, the next POST reaches the service, and its
connection is closed when the response begins. The file is removed then.
"""
import asyncio
import os
import sys

target, switch = int(sys.argv[1]), sys.argv[2]


async def relay(reader, writer):
    service_reader, service_writer = await asyncio.open_connection("127.0.0.1", target)
    state = {"loses": False}

    async def upwards():
        while data := await reader.read(65536):
            if data.startswith(b"POST ") and os.path.exists(switch):
                os.remove(switch)
                state["loses"] = True
            service_writer.write(data)
            await service_writer.drain()
        service_writer.write_eof()

    async def downwards():
        while data := await service_reader.read(65536):
            if state["loses"]:
                print("a response was lost", file=sys.stderr, flush=True)
                break
            writer.write(data)
            await writer.drain()

    tasks = [asyncio.create_task(upwards()), asyncio.create_task(downwards())]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    if not tasks[1].done() and not state["loses"]:
        await asyncio.wait([tasks[1]])
    for task in tasks:
        task.cancel()
    for stream in (writer, service_writer):
        stream.transport.abort() if state["loses"] else stream.close()


async def main():
    server = await asyncio.start_server(relay, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


asyncio.run(main())
