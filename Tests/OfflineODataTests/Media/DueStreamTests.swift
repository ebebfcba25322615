import GRDB
import HTTPTypes
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Synchronization
import Testing

@Suite("Rule 9: a stream that a download did not reach")
struct DueStreamTests {
    private static let content = "Pictures(1)/$value"
    private static let thumb = "Pictures(1)/Thumb"

    /// The faults of requests for streams.
    private final class Faults: Sendable {
        private let fault = Mutex<(@Sendable (String) -> (any Error)?)?>(nil)
        let asked = LockedNames()

        func set(_ fault: (@Sendable (String) -> (any Error)?)?) { self.fault.withLock { $0 = fault } }

        func meet(_ url: String) throws {
            asked.append(url)
            if let error = fault.withLock({ $0 })?(url) { throw error }
        }
    }

    private static let cut = TransportError.connectionLost(host: "studio.test", reason: "the wire is cut")

    private func clone(
        _ studio: Studio, _ faults: Faults
    ) async throws -> OfflineStore {
        let service = Gateway(
            base: try studio.client(),
            before: { request in
                let url = request.url.description
                if url.hasSuffix("$value") || url.hasSuffix("Thumb") { try faults.meet(url) }
                return nil
            })
        return try await studio.clone(
            [try DefiningQuery("p", "Pictures", retrievesStreams: true), try DefiningQuery("t", "Tags")],
            through: service)
    }

    @Test("is loaded by later downloads, however many are needed", arguments: [0, 500, 403])
    func replacedAndCut(status: Int) async throws {
        let studio = try await Studio()
        let faults = Faults()
        let store = try await clone(studio, faults)
        try await studio.service.replaceStream(Self.content, "two")
        faults.set { _ in
            if status == 0 { return Self.cut }
            return ODataError(status: status, code: "No", message: "Not now.")
        }
        for _ in 1...2 {
            if status == 0 {
                await #expect(throws: TransportError.self) { try await store.download() }
            } else {
                try await store.download()
            }
            #expect(try await store.stream(Self.content) == "one", "until then, what was there is seen")
            #expect(try await store.streams.isLoaded(ODataURL(parsing: Self.content)))
        }
        faults.set(nil)
        try await store.maintenance.compact()
        try await store.download()
        #expect(try await store.stream(Self.content) == "two")
        let asked = faults.asked.names.count
        try await store.download()
        #expect(faults.asked.names.count == asked, "nothing is due any more")
    }

    @Test("is loaded by the next download if that one ended before the streams")
    func cutBefore() async throws {
        let studio = try await Studio()
        let faults = Faults()
        let store = try await clone(studio, faults)
        try await studio.service.replaceStream(Self.content, "two")
        try await studio.service.update("Tags(1)", ["Name": "scarlet"])
        await studio.wire.cut { _, request in request.path?.contains("Tags") == true ? .lostOnTheWay : nil }
        // The queries run in parallel, so the pictures may be complete.
        for _ in 1...2 { await #expect(throws: TransportError.self) { try await store.download() } }
        await studio.wire.mend()
        try await store.download(["t"])
        try await store.download()
        #expect(try await store.stream(Self.content) == "two")
    }

    @Test("of a property is loaded by the next download even if the entity's stream exists")
    func cutBetween() async throws {
        let studio = try await Studio()
        try await studio.service.replaceStream(Self.thumb, "small")
        let faults = Faults()
        faults.set { $0.hasSuffix("Thumb") ? Self.cut : nil }
        await #expect(throws: TransportError.self) { try await clone(studio, faults) }
        faults.set(nil)
        let service = try studio.client()
        let store = try await OfflineStore.open(
            at: studio.directory.appendingPathComponent("clone").path, protection: .unencrypted,
            connect: { _, _ in service })
        #expect(try await store.stream(Self.content) == "one")
        try await store.download()
        #expect(try await store.stream(Self.thumb) == "small")
    }

    @Test("that the service lacks is not requested again while nothing changes")
    func none() async throws {
        let studio = try await Studio()
        let faults = Faults()
        let store = try await clone(studio, faults)
        #expect(faults.asked.names.sorted() == [Self.content, Self.thumb])
        try await store.download()
        #expect(faults.asked.names.count == 2)
    }

    /// A transport that answers requests for a stream from a script.
    private struct ScriptedTransport: HTTPTransport {
        let base: any HTTPTransport
        let ranges = LockedNames()
        /// A closure that is called with the number of the request before its last bytes; it may wait.
        var pause: @Sendable (Int) async throws -> Void = { _ in }
        /// A closure that is called with the requested range and the number of the request, starting at 1.
        let answer: @Sendable (String, Int) -> (status: Int, fields: [String: String], bytes: [UInt8], isCut: Bool)

        func send(
            _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
        ) async throws -> (HTTPResponse, ByteStream) {
            guard request.path?.hasSuffix("$value") == true, request.method == .get else {
                return try await base.send(request, body: body, options: options)
            }
            let range = request.headerFields[.range] ?? "all"
            ranges.append(range)
            let (status, fields, bytes, isCut) = answer(range, ranges.names.count)
            var response = HTTPResponse(status: .init(code: status))
            for (name, value) in fields {
                if let name = HTTPField.Name(name) { response.headerFields[name] = value }
            }
            let rest = Mutex<[UInt8]?>(bytes)
            let (number, pause) = (ranges.names.count, pause)
            return (
                response,
                ByteStream {
                    let next = rest.withLock { rest in
                        defer { rest = nil }
                        return rest
                    }
                    if let next, !next.isEmpty { return next }
                    try await pause(number)
                    if isCut { throw DueStreamTests.cut }
                    return nil
                }
            )
        }
    }

    @Test("is loaded by the next download if two concurrent ones ended each other", Patience.limit)
    func atOnce() async throws {
        let studio = try await Studio()
        let (first, second) = (LockedFlag(), LockedFlag())
        let transport = ScriptedTransport(
            base: studio.wire,
            pause: { number in
                guard let flag = number == 2 ? first : number == 3 ? second : nil else { return }
                while !flag.isSet { try await Task.sleep(for: .milliseconds(5)) }
            },
            answer: { _, number in
                (
                    200, ["ETag": "\"\(min(number, 2))\"", "Content-Type": "image/png"],
                    [UInt8](repeating: number == 1 ? 65 : 66, count: 5000), false
                )
            })
        let store = try await studio.clone(
            [try DefiningQuery("p", "Pictures", retrievesStreams: true)],
            through: try ODataClient(
                serviceRoot: "http://studio.test/",
                transport: HTTPSession(
                    transport, serviceRoot: "http://studio.test/", configuration: .init(retry: .none))))
        try await studio.service.replaceStream(Self.content, "two")
        let file = try DatabaseQueue(path: store.directory + "/store.db")
        /// Waits for a load of the stream other than a known one, and returns its id.
        func begun(but known: Int64 = 0) async throws -> Int64 {
            while true {
                let found = try await file.read {
                    try Int64.fetchOne(
                        $0,
                        sql: """
                            SELECT id FROM outpost_stream
                            WHERE property = '' AND entity_set = 'Pictures' AND is_complete = 0 AND etag IS NOT NULL AND id <> ?
                            """, arguments: [known])
                }
                if let found { return found }
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        let url = try ODataURL(parsing: Self.content)
        let download = Task { try await store.download() }
        let one = try await begun()
        let load = Task { try await store.streams.load(url) }
        _ = try await begun(but: one)
        first.set()
        _ = try await download.value
        second.set()
        #expect(try await load.value)
        try await store.download()
        #expect(try await store.stream(Self.content) == String(repeating: "B", count: 5000))
    }

    /// The response to a request for the rest of a stream.
    enum Rest: CaseIterable {
        case unsatisfiable
        case otherPlace
        case otherVersion
        case withoutPlace
    }

    @Test(
        "that was cut at its end, or has foreign remaining bytes, is loaded again",
        arguments: Rest.allCases
    )
    func cutAtTheEnd(rest: Rest) async throws {
        let studio = try await Studio()
        let size = 512 << 10
        let (old, new) = ([UInt8](repeating: 65, count: size), [UInt8](repeating: 66, count: size))
        let transport = ScriptedTransport(base: studio.wire) { range, number in
            if number == 1 { return (200, ["ETag": "\"1\"", "Content-Type": "image/png"], old, true) }
            guard range != "all" else {
                return (200, ["ETag": "\"2\"", "Content-Type": "image/png"], new, false)
            }
            var fields = ["Content-Type": "image/png", "Content-Range": "bytes \(size)-\(size)/\(size + 1)"]
            switch rest {
            case .unsatisfiable: return (416, ["Content-Range": "bytes */\(size)"], [], false)
            case .otherPlace: fields["Content-Range"] = "bytes 0-0/\(size + 1)"
            case .otherVersion: fields["ETag"] = "\"2\""
            case .withoutPlace: fields["Content-Range"] = nil
            }
            return (206, fields, [67], false)
        }
        let store = try await studio.clone(
            through: try ODataClient(
                serviceRoot: "http://studio.test/",
                transport: HTTPSession(
                    transport, serviceRoot: "http://studio.test/", configuration: .init(retry: .none))))
        let url = try ODataURL(parsing: Self.content)
        await #expect(throws: TransportError.self) { try await store.streams.load(url) }
        #expect(try await store.streams.load(url))
        #expect(transport.ranges.names == ["all", "bytes=\(size)-", "all"])
        #expect(try await store.stream(Self.content) == String(repeating: "B", count: size))
    }
}
