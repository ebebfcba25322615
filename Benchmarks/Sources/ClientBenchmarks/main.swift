// Reads entities over a socket, beside a loop of async-http-client that only receives the same bytes:
// ClientBenchmarks [--quick]. Processor time of this process, best of three; the service is another process.
import AsyncHTTPClient
import Foundation
import Measuring
import NIOCore
import ODataClient
import ODataModel
import ODataQuery
import ODataService
import ODataTransportNIO
import SampleOrders

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.first == "--serve" {
    try await Service.run(entities: Int(arguments.last ?? "") ?? 100_000)
    exit(0)
}
let isQuick = arguments.contains("--quick")
let entities = isQuick ? 10_000 : 100_000
let requests = isQuick ? 400 : 4_000

let process = Process()
process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
process.arguments = ["--serve", String(entities)]
let (input, output) = (Pipe(), Pipe())
process.standardInput = input
process.standardOutput = output
try process.run()
let port = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    .trimmingCharacters(in: .whitespacesAndNewlines)
let root = "http://127.0.0.1:\(port)/bench/"

/// The time of some work, by the processor and by the clock; the best of three.
func measured(_ body: () async throws -> Int, expecting count: Int) async throws -> Taken {
    var best: Taken?
    for _ in 0..<3 {
        var found = 0
        let taken = try await Taken.by { found = try await body() }
        require(found == count, "\(found) instead of \(count)")
        best = Taken.least(best, taken)
    }
    return best ?? Taken()
}

let bare = HTTPClient(eventLoopGroupProvider: .singleton)
let transport = try NIOTransport()
// As many concurrent requests as are measured, including the work of a session for each.
let session = try HTTPSession(
    transport, serviceRoot: root, configuration: .init(queue: try TransferQueue(limit: 64)))
let service = DataService(try await ODataClient(root, transport: session))

/// Receives the bytes of a URL.
@Sendable func receive(_ url: String) async throws -> Int {
    let response = try await bare.execute(HTTPClientRequest(url: url), timeout: .seconds(60))
    var count = 0
    for try await chunk in response.body { count += chunk.readableBytes }
    return count
}

/// Runs so many requests, some at once.
func run(_ total: Int, at concurrency: Int, _ one: @escaping @Sendable () async throws -> Bool) async throws -> Int {
    try await withThrowingTaskGroup(of: Int.self) { group in
        for worker in 0..<concurrency {
            group.addTask {
                var done = 0
                for _ in stride(from: worker, to: total, by: concurrency) where try await one() { done += 1 }
                return done
            }
        }
        return try await group.reduce(0, +)
    }
}

let pages = entities / Service.pageSize
let loop = try await measured(
    {
        var read = 0
        for page in 0..<pages where try await receive("\(root)Orders?page=\(page)") > 0 { read += 1 }
        return read
    }, expecting: pages)
let dynamic = try await measured({ try await service.entities("Orders").count }, expecting: entities)
let streamed = try await measured(
    {
        var count = 0
        for try await page in service.pages(ResourceQuery("Orders")) { count += page.entities.count }
        return count
    }, expecting: entities)
let typed = try await measured({ try await service.fetch(TypedOrder.self).count }, expecting: entities)
for (name, figure) in [
    ("all at once as entities", dynamic), ("page by page as entities", streamed), ("as values of a Swift type", typed),
] {
    print(
        String(
            format: "%d entities %@: %.0f rows/s of processor, %.1f times the bare loop's time", entities, name,
            Double(entities) / figure.processor, figure.processor / loop.processor))
}
for concurrency in [1, 8, 64] {
    let url = "\(root)Orders(7)"
    let plain = try await measured(
        { try await run(requests, at: concurrency) { try await receive(url) > 0 } }, expecting: requests)
    let read = try await measured(
        { try await run(requests, at: concurrency) { try await service.entity("Orders", key: 7) != nil } },
        expecting: requests)
    print(
        String(
            format: "single reads, %d at once: %.0f requests/s, bare loop %.0f, %.2f times its processor time",
            concurrency,
            Double(requests) / read.clock, Double(requests) / plain.clock, read.processor / plain.processor))
}
try await bare.shutdown().get()
try await transport.shutdown()
input.fileHandleForWriting.closeFile()
process.waitUntilExit()
