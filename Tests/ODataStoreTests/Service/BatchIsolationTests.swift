import ODataModel
import ODataQuery
import ODataService
import Synchronization
import Testing

@testable import ODataStore

@Suite("A service on its own model: batches under snapshot isolation")
struct BatchIsolationTests {
    /// The events in order.
    private final class Record: Sendable {
        private let events = Mutex<[String]>([])
        func add(_ event: String) { events.withLock { $0.append(event) } }
        var all: [String] { events.withLock { $0 } }
    }

    private func service(_ record: Record) async throws -> Bazaar {
        let bazaar = try await Bazaar { definition in
            // A slow batch, so that other requests arrive while it is answered.
            definition.beforeRequest { request in
                guard request.method == .read else { return }
                record.add("read")
                try await Task.sleep(for: .milliseconds(30))
            }
            definition.after(.insert, "Categories") { entity, _ in
                guard case .string(let name)? = entity["Name"] else { return }
                record.add(name)
            }
        }
        try await bazaar.service.seed(json: Array(#"{"Categories":[{"ID":1,"Name":"a"},{"ID":2,"Name":"b"}]}"#.utf8))
        return bazaar
    }

    private func batch(_ bazaar: Bazaar, _ isolation: ODataRequest.Isolation?) async throws -> [ODataResponse] {
        func item(_ id: String, _ request: ODataRequest) -> BatchItem {
            var request = request
            request.isolation = isolation
            return BatchItem(id: id, request: request)
        }
        var request = ODataRequest(.create, try ODataURL(parsing: "$batch"))
        request.isolation = isolation
        request.body = .batch([
            item("1", try bazaar.request(.read, "Categories/$count")),
            item("2", try bazaar.request(.create, "Categories", #"{"ID":3,"Name":"own"}"#)),
            item("3", try bazaar.request(.read, "Categories?$orderby=ID")),
            item("4", try bazaar.request(.read, "Categories/$count")),
        ])
        guard case .batch(let results) = try await bazaar.service.execute(request).body else { return [] }
        return try results.map { try $0.result.get() }
    }

    @Test("8.2.6 all requests of a batch see one state with its own changes, and other writers wait")
    func oneState() async throws {
        let record = Record()
        let bazaar = try await service(record)
        async let answers = batch(bazaar, .snapshot)
        while !record.all.contains("read") { await Task.yield() }
        _ = try await bazaar.service.execute(bazaar.request(.create, "Categories", #"{"ID":4,"Name":"other"}"#))
        let responses = try await answers
        guard case .count(let before) = responses[0].body, case .count(let after) = responses[3].body else {
            Issue.record("two counts were expected")
            return
        }
        #expect(before == 2 && after == 3)
        #expect(record.all.filter { $0 != "read" && $0.count > 1 } == ["own", "other"])
        #expect(record.all.last == "other")
    }

    @Test("without isolation, other writers change data during a batch")
    func noIsolation() async throws {
        let record = Record()
        let bazaar = try await service(record)
        async let answers = batch(bazaar, nil)
        while !record.all.contains("read") { await Task.yield() }
        _ = try await bazaar.service.execute(bazaar.request(.create, "Categories", #"{"ID":4,"Name":"other"}"#))
        let responses = try await answers
        guard case .count(let after)? = responses.last?.body else { throw ODataError.notFound("count") }
        #expect(after == 4)
    }

    @Test("a failed or cancelled batch blocks no other writer")
    func released() async throws {
        let record = Record()
        let bazaar = try await service(record)
        let task = Task { try await batch(bazaar, .snapshot) }
        while !record.all.contains("read") { await Task.yield() }
        task.cancel()
        _ = await task.result
        _ = try await bazaar.service.execute(bazaar.request(.create, "Categories", #"{"ID":5,"Name":"later"}"#))
        // Several concurrent batches, with changes between them, all complete.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 10..<20 {
                group.addTask {
                    let body = #"{"ID":\#(number),"Name":"n\#(number)"}"#
                    _ = try await bazaar.service.execute(bazaar.request(.create, "Categories", body))
                }
                group.addTask {
                    var request = ODataRequest(.create, try ODataURL(parsing: "$batch"))
                    request.isolation = .snapshot
                    request.body = .batch([
                        BatchItem(id: "1", request: try bazaar.request(.read, "Categories/$count")),
                        BatchItem(id: "2", request: try bazaar.request(.read, "Categories/$count")),
                    ])
                    guard case .batch(let results) = try await bazaar.service.execute(request).body else {
                        throw ODataError.notFound("batch")
                    }
                    let counts = try results.map { result -> Int64 in
                        if case .count(let count) = try result.result.get().body { count } else { -1 }
                    }
                    #expect(counts.count == 2 && counts.first == counts.last)
                }
            }
            try await group.waitForAll()
        }
    }
}
