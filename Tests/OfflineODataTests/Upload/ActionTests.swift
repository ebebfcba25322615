import HTTPTypes
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

/// The changes that an action makes to its bound entity count as the client's own (rule 5).
@Suite("A change behind a queued action on its entity")
struct ActionTests {
    private func methods(_ desk: Desk) async -> [HTTPRequest.Method] { await desk.wire.requests.map(\.method) }

    // MARK: Own changes

    @Test("is sent with the ETag after the action, which is read if no response contains it")
    func unanswered() async throws {
        let desk = try await Desk()
        let store = try await desk.clone()
        try await store.call("Close")
        try await store.update("Tickets(1)", ["Text": "mine"])
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.map(\.kind) == [.call, .update])
        #expect(desk.calls.names == ["Close"])
        let ticket = try await desk.ticket()
        #expect(ticket["State"] == "closed" && ticket["Text"] == "mine")
        #expect(await methods(desk) == [.post, .get, .patch])
        #expect(await desk.wire.requests.last?.headerFields[.ifMatch] != nil, "guarded, not compared by values")
        let here = try #require(try await store.rows("Tickets(1)").first)
        #expect(here["State"] == "closed" && here["Text"] == "mine")
        #expect(here.control.etag == ticket.control.etag)
    }

    @Test("needs no further request if the action returns the entity")
    func answered() async throws {
        let desk = try await Desk()
        let store = try await desk.clone()
        try await store.call("Reopen")
        try await store.update("Tickets(1)", ["Text": "mine"])
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.map(\.kind) == [.call, .update])
        #expect(await methods(desk) == [.post, .patch])
        let ticket = try await desk.ticket()
        #expect(ticket["State"] == "reopened" && ticket["Text"] == "mine")
    }

    @Test("does not conflict with several actions and changes, each with the previous ETag")
    func chain() async throws {
        let desk = try await Desk()
        let store = try await desk.clone()
        let first = try await desk.ticket().control.etag
        try await store.update("Tickets(1)", ["Text": "before"])
        try await store.call("Close")
        try await store.call("Reopen")
        try await store.update("Tickets(1)", ["State": "done"])
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.map(\.kind) == [.update, .call, .call, .update])
        #expect(desk.calls.names == ["Close", "Reopen"])
        #expect(try await desk.ticket()["State"] == "done")
        let guards = await desk.wire.requests.compactMap { $0.headerFields[.ifMatch] }
        #expect(guards.first == first)
        #expect(Set(guards).count == 4, "each has made another version")
    }

    @Test("does not conflict if it is made after the upload and before the next download")
    func afterUpload() async throws {
        let desk = try await Desk()
        let store = try await desk.clone()
        try await store.call("Close")
        try await store.upload()
        #expect(try await store.rows("Tickets(1)").first?["State"] == "closed")
        try await store.update("Tickets(1)", ["State": "done"])
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(try await desk.ticket()["State"] == "done")
    }

    @Test("continues without a refused action, which is called again on the result")
    func refused() async throws {
        let desk = try await Desk()
        let store = try await desk.clone()
        try await store.call("Close", onTicket: 2)
        try await store.update("Tickets(2)", ["Text": "why"])
        let report = try await store.upload()
        #expect(report.failed.map(\.kind) == [.call])
        #expect(report.accepted.map(\.kind) == [.update])
        try await store.changes.retry()
        #expect(try await store.upload().accepted.map(\.kind) == [.call])
        #expect(try await desk.ticket(2)["State"] == "closed")
    }

    @Test("is guarded by the action in the same change set")
    func changeSet() async throws {
        let desk = try await Desk()
        let store = try await desk.clone()
        try await store.changes.transaction { changes in
            try changes.perform(Desk.request("Close"))
            try changes.update("Tickets(1)", ["State": "done"])
        }
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.map(\.kind) == [.call, .update])
        #expect(desk.calls.names == ["Close"])
        let changes = await desk.wire.requests.filter { $0.method != .get }
        #expect(changes.map { $0.path?.hasSuffix("$batch") } == [true])
        let ticket = try await desk.ticket()
        #expect(ticket["State"] == "done")
        #expect(try await store.rows("Tickets(1)").first?.control.etag == ticket.control.etag)
    }

    @Test("Rule 8: is compared with the result of the action without ETags")
    func withoutETags() async throws {
        let desk = try await Desk()
        let store = try await desk.clone(hasETags: false)
        try await store.call("Close")
        try await store.update("Tickets(1)", ["State": "done"])
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.map(\.kind) == [.call, .update])
        #expect(desk.calls.names == ["Close"])
        #expect(try await desk.ticket()["State"] == "done")
    }

    // MARK: Conflicts

    @Test(
        "conflicts together with the action if another user changed the entity: neither acts",
        arguments: zip([true, true, false], [false, true, false]))
    func conflict(hasETags: Bool, isSet: Bool) async throws {
        let desk = try await Desk()
        let store = try await desk.clone(hasETags: hasETags)
        if isSet {
            try await store.changes.transaction { changes in
                try changes.perform(Desk.request("Close"))
                try changes.update("Tickets(1)", ["Text": "mine"])
            }
        } else {
            try await store.call("Close")
            try await store.update("Tickets(1)", ["Text": "mine"])
        }
        try await desk.service.update("Tickets(1)", ["Text": "theirs"])
        let report = try await store.upload()
        #expect(report.accepted.isEmpty)
        #expect(report.failed.map(\.kind) == [.call, .update])
        #expect(report.failed.map { $0.failure?.isConflict } == [true, true])
        #expect(report.failed.map { $0.failure?.theirs?["Text"] } == ["theirs", "theirs"], "the archive shows it")
        #expect(desk.calls.names.isEmpty)
        let ticket = try await desk.ticket()
        #expect(ticket["State"] == "open" && ticket["Text"] == "theirs")
    }

    /// Returns a service, and a store with an action and an update of an entity that has been changed at the
    /// service.
    private func contested(hasETags: Bool) async throws -> (Desk, OfflineStore) {
        let desk = try await Desk()
        let store = try await desk.clone(hasETags: hasETags)
        try await store.call("Close")
        try await store.update("Tickets(1)", ["Text": "mine"])
        try await desk.service.update("Tickets(1)", ["Text": "theirs"])
        return (desk, store)
    }

    @Test("is sent on top of the server version with the action if the client wins", arguments: [true, false])
    func clientWins(hasETags: Bool) async throws {
        let (desk, store) = try await contested(hasETags: hasETags)
        let report = try await store.upload(options: UploadOptions(conflictPolicy: .clientWins))
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.map(\.kind) == [.call, .update])
        #expect(desk.calls.names == ["Close"])
        let ticket = try await desk.ticket()
        #expect(ticket["State"] == "closed" && ticket["Text"] == "mine")
    }

    @Test("is withdrawn with the action if the server wins", arguments: [true, false])
    func serverWins(hasETags: Bool) async throws {
        let (desk, store) = try await contested(hasETags: hasETags)
        let report = try await store.upload(options: UploadOptions(conflictPolicy: .serverWins))
        #expect(report.givenUp.map(\.kind) == [.call, .update])
        #expect(report.failed.isEmpty && report.accepted.isEmpty)
        #expect(desk.calls.names.isEmpty)
        #expect(try await store.rows("Tickets(1)").first?["Text"] == "theirs")
        #expect(try await store.observe.status().pending.isEmpty)
    }

    @Test("is decided by a policy that gets the entity of the action")
    func custom() async throws {
        let desk = try await Desk()
        let store = try await desk.clone()
        try await store.call("Close")
        try await desk.service.update("Tickets(1)", ["Text": "theirs"])
        let asked = LockedNames()
        let policy = ConflictPolicy.custom { versions in
            asked.append("\(versions.entitySet) \(versions.kind) \(versions.key == versions.theirs?.key)")
            return .mine
        }
        let report = try await store.upload(options: UploadOptions(conflictPolicy: policy))
        #expect(asked.names == ["Tickets call true"])
        #expect(report.accepted.map(\.kind) == [.call])
    }

    // MARK: Unknown outcomes

    /// Returns a store that lost the response to an executed action.
    private func doubtful(_ desk: Desk, _ change: [String: ODataValue]) async throws -> OfflineStore {
        let store = try await desk.clone(isPlain: true)
        try await store.call("Close")
        try await store.update("Tickets(1)", change)
        await desk.wire.cut { _, request in request.method == .post ? .answerLost : nil }
        await #expect(throws: TransportError.self) { try await store.upload() }
        await desk.wire.mend()
        return store
    }

    @Test("Rule 1: continues behind an action with an unknown outcome if the base values are unchanged")
    func doubt() async throws {
        let desk = try await Desk()
        let store = try await doubtful(desk, ["Text": "mine"])
        let report = try await store.upload()
        #expect(report.failed.map(\.state) == [.inDoubt])
        #expect(report.accepted.map(\.kind) == [.update])
        #expect(desk.calls.names == ["Close"])
        #expect(try await desk.ticket()["Text"] == "mine")
    }

    @Test("Rule 1: conflicts behind an action with an unknown outcome if values differ")
    func doubtfulValues() async throws {
        let desk = try await Desk()
        let store = try await doubtful(desk, ["State": "done"])
        let report = try await store.upload()
        #expect(report.failed.map(\.state) == [.inDoubt, .refused])
        #expect(report.failed.last?.failure?.isConflict == true)
        #expect(try await desk.ticket()["State"] == "closed")
    }
}
