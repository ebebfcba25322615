// Reads entities over a socket, beside a loop of async-http-client that only receives the same bytes:
// ClientBenchmarks [--quick]. Processor time of this process, best of three; the service is another process.
import AsyncHTTPClient
import Foundation
import NIOCore
import ODataClient
import ODataModel
import ODataQuery
import ODataService
import ODataTransportNIO

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.first == "--serve" {
    try await Service.run(entities: Int(arguments.last ?? "") ?? 100_000)
    exit(0)
}
let isQuick = arguments.contains("--quick")
let entities = isQuick ? 20_000 : 100_000
let requests = isQuick ? 500 : 4_000

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

/// The seconds of the processor that this process used for something, and by the clock; the best of three.
func measured(_ body: () async throws -> Int, expecting count: Int) async throws -> (processor: Double, clock: Double) {
    var best = (processor: Double.infinity, clock: Double.infinity)
    for _ in 0..<3 {
        let start = (seconds(CLOCK_PROCESS_CPUTIME_ID), seconds(CLOCK_MONOTONIC))
        let found = try await body()
        guard found == count else { fatalError("\(found) instead of \(count)") }
        best.processor = min(best.processor, seconds(CLOCK_PROCESS_CPUTIME_ID) - start.0)
        best.clock = min(best.clock, seconds(CLOCK_MONOTONIC) - start.1)
    }
    return best
}

func seconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

func verdict(_ ratio: Double, atMost limit: Double) -> String {
    ratio <= limit ? "holds" : String(format: "missed by %.2f times", ratio / limit)
}

let bare = HTTPClient(eventLoopGroupProvider: .singleton)
let transport = try NIOTransport()
let service = DataService(try await ODataClient(root, transport: transport))

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
        for try await page in service.pages(Query("Orders")) { count += page.entities.count }
        return count
    }, expecting: entities)
let typed = try await measured({ try await service.fetch(Order.self).count }, expecting: entities)
for (name, figure, limit) in [
    ("all at once as entities", dynamic, 12.0), ("page by page as entities", streamed, 12.0),
    ("as values of a Swift type", typed, 16.0),
] {
    let ratio = figure.processor / loop.processor
    print(
        "\(entities) entities read \(name): "
            + String(
                format: "%.2f s of processor (%.0f rows/s), %.1f times the bare loop's %.3f s, limit %.0f: ",
                figure.processor, Double(entities) / figure.processor, ratio, loop.processor, limit)
            + verdict(ratio, atMost: limit))
}
for concurrency in [1, 8, 64] {
    let url = "\(root)Orders(7)"
    let plain = try await measured(
        { try await run(requests, at: concurrency) { try await receive(url) > 0 } }, expecting: requests)
    let read = try await measured(
        { try await run(requests, at: concurrency) { try await service.entity("Orders", key: 7) != nil } },
        expecting: requests)
    let ratio = read.processor / plain.processor
    print(
        "single reads, \(concurrency) at once: "
            + String(
                format: "%.0f requests/s (bare loop %.0f), %.2f times its processor time, limit 2: ",
                Double(requests) / read.clock, Double(requests) / plain.clock, ratio)
            + verdict(ratio, atMost: 2))
}
try await bare.shutdown()
try await transport.shutdown()
input.fileHandleForWriting.closeFile()
process.waitUntilExit()
