import Foundation
import HTTPTypes
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

/// An action applies to the version that the client's own requests have produced, but not to one with changes
/// of other users.
@Suite("Rule 5: the version for an action call")
struct ActionVersionTests {
    /// Uploads the pending changes and loses the response to the first action.
    private func loseAnswer(_ desk: Desk, _ store: OfflineStore) async throws {
        await desk.wire.cut { _, request in request.method == .post ? .answerLost : nil }
        await #expect(throws: TransportError.self) { try await store.upload() }
        await desk.wire.mend()
    }

    @Test(
        "does not, after a lost response, let a later change overwrite changes by others",
        arguments: [true, false])
    func changedByOthersMeanwhile(isChanged: Bool) async throws {
        let desk = try await Desk()
        let store = try await desk.clone()
        try await store.call("Touch")
        // The response confirms that the service recognises repeated requests.
        #expect(try await store.upload().accepted.count == 1)
        try await store.call("Close")
        try await store.update("Tickets(1)", ["Text": "mine"])
        try await loseAnswer(desk, store)
        if isChanged { try await desk.service.update("Tickets(1)", ["Text": "theirs"]) }
        let report = try await store.upload()
        #expect(report.accepted.map(\.kind) == (isChanged ? [.call] : [.call, .update]))
        #expect(report.failed.map { $0.failure?.conflict } == (isChanged ? [.changed] : []))
        #expect(try await desk.ticket()["Text"] == (isChanged ? "theirs" : "mine"))
        #expect(desk.calls.names == ["Touch", "Close"])
    }

    // MARK: Unknown outcomes

    @Test("follows another action with an unknown outcome if the seen values are unchanged")
    func doubtOfAnother() async throws {
        let desk = try await Desk()
        let store = try await desk.clone(isPlain: true)
        try await store.call("Touch")
        try await store.call("Close")
        try await loseAnswer(desk, store)
        let report = try await store.upload()
        #expect(report.failed.map(\.state) == [.inDoubt])
        #expect(report.accepted.map(\.kind) == [.call])
        #expect(desk.calls.names == ["Touch", "Close"])
        try await store.changes.retry()
        #expect(try await store.upload().accepted.map(\.kind) == [.call], "on what the other has left")
        #expect(desk.calls.names == ["Touch", "Close", "Touch"])
    }

    @Test("does not follow another action with an unknown outcome if values differ")
    func doubtfulValues() async throws {
        let desk = try await Desk()
        let store = try await desk.clone(isPlain: true)
        try await store.call("Close")
        try await store.call("Touch")
        try await loseAnswer(desk, store)
        let report = try await store.upload()
        #expect(report.failed.map(\.state) == [.inDoubt, .refused])
        #expect(report.failed.last?.failure?.isConflict == true)
        #expect(report.failed.last?.failure?.theirs?["State"] == "closed")
        #expect(desk.calls.names == ["Close"])
    }

    @Test("is the version of a change made after the unknown outcome")
    func changedSince() async throws {
        let desk = try await Desk()
        let store = try await desk.clone(isPlain: true)
        try await store.call("Close")
        try await store.update("Tickets(1)", ["Text": "mine"])
        try await loseAnswer(desk, store)
        #expect(try await store.upload().accepted.map(\.kind) == [.update])
        try await store.changes.retry()
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.map(\.kind) == [.call])
        #expect(desk.calls.names == ["Close", "Close"])
    }

    @Test("is not a later version of another client: that is a conflict")
    func changedByOthersSince() async throws {
        let desk = try await Desk()
        let store = try await desk.clone(isPlain: true)
        try await store.call("Touch")
        try await loseAnswer(desk, store)
        #expect(try await store.upload().failed.map(\.state) == [.inDoubt])
        try await desk.service.update("Tickets(1)", ["Text": "theirs"])
        try await store.changes.retry()
        let failed = try await store.upload().failed
        #expect(failed.map { $0.failure?.isConflict } == [true])
        #expect(failed.map { $0.failure?.theirs?["Text"] } == ["theirs"])
        #expect(desk.calls.names == ["Touch"])
    }

    @Test(
        "Rule 1: is the current one after an unknown outcome, also in a change set, and a later change continues",
        arguments: [true, false])
    func inDoubt(isSet: Bool) async throws {
        let desk = try await Desk()
        let store = try await desk.clone(isPlain: true)
        if isSet {
            try await store.changes.transaction { changes in
                try changes.perform(Desk.request("Touch"))
                try changes.perform(Desk.request("Touch", on: 2))
            }
        } else {
            try await store.call("Touch")
        }
        try await store.update("Tickets(1)", ["Text": "mine"])
        try await loseAnswer(desk, store)
        let count = isSet ? 2 : 1
        let report = try await store.upload()
        #expect(report.failed.map(\.state) == Array(repeating: QueuedRequest.State.inDoubt, count: count))
        #expect(report.failed.first?.failure?.theirs?["Text"] == "first", "the archive shows it")
        #expect(report.accepted.map(\.kind) == [.update])
        try await store.changes.retry()
        let again = try await store.upload()
        #expect(again.failed.map { $0.failure?.message } == [])
        #expect(again.accepted.map(\.kind) == Array(repeating: QueuedRequest.Kind.call, count: count))
        #expect(desk.calls.names.count == 2 * count)
    }

    // MARK: Change sets

    @Test("guards a whole change set only if all its changes are based on it")
    func differing() async throws {
        let desk = try await Desk()
        let store = try await desk.clone()
        try await store.changes.transaction { changes in
            try changes.update("Tickets(1)", ["Text": "mine"])
            try changes.perform(Desk.request("Close"))
        }
        try await desk.service.update("Tickets(1)", ["Text": "theirs"])
        #expect(try await store.upload().failed.map(\.kind) == [.update, .call])
        // The download gives the update a newer version than the one for which the action was refused.
        try await desk.service.update("Tickets(1)", ["Text": "theirs again"])
        try await store.download()
        try await store.changes.retry()
        let report = try await store.upload()
        #expect(report.accepted.isEmpty)
        #expect(report.failed.map { $0.failure?.theirs?["Text"] } == [nil, "theirs again"])
        #expect(desk.calls.names.isEmpty)
        #expect(try await desk.ticket()["Text"] == "theirs again")
        try await store.changes.retry()
        #expect(try await store.upload().accepted.map(\.kind) == [.update, .call])
        #expect(desk.calls.names == ["Close"])
    }

    // MARK: Streams

    /// Returns a service of tickets with scans, and a store with the scan of the first ticket.
    private func scanned() async throws -> (Desk, OfflineStore) {
        let text = #"<Property Name="Text" Type="Edm.String"/>"#
        let desk = try await Desk {
            $0.replacingOccurrences(of: text, with: text + #"<Property Name="Scan" Type="Edm.Stream"/>"#)
        }
        try await desk.service.replaceStream("Tickets(1)/Scan", "one")
        return (desk, try await desk.clone([DefiningQuery(entitySet: "Tickets", retrievesStreams: true)]))
    }

    @Test(
        "is the one after the app's own stream unless others changed the entity before",
        arguments: [true, false])
    func stream(isAlone: Bool) async throws {
        let (desk, store) = try await scanned()
        try await store.replaceStream("Tickets(1)/Scan", "two")
        try await store.call("Close")
        if !isAlone { try await desk.service.update("Tickets(1)", ["Text": "theirs"]) }
        let report = try await store.upload()
        let accepted: [QueuedRequest.Kind] = isAlone ? [.stream, .call] : [.stream]
        #expect(report.accepted.map(\.kind) == accepted)
        let conflicts: [Bool?] = isAlone ? [] : [true]
        #expect(report.failed.map { $0.failure?.isConflict } == conflicts)
        #expect(desk.calls.names == (isAlone ? ["Close"] : []))
        #expect(try await desk.service.stream("Tickets(1)/Scan") == "two")
    }

    @Test("is not that of a later stream, which has its own ETag")
    func streamBehind() async throws {
        let (desk, store) = try await scanned()
        let scan = try ODataURL(parsing: "Tickets(1)/Scan")
        let etag = try #require(try await desk.service.execute(ODataRequest(.read, scan)).etag)
        try await store.call("Close")
        try await store.replaceStream("Tickets(1)/Scan", "two")
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.map(\.kind) == [.call, .stream])
        let put = await desk.wire.requests.last { $0.method == .put }
        #expect(put?.headerFields[.ifMatch] == etag)
    }

    // MARK: The archive

    @Test("Rule 8: is not compared for an archived change, which keeps its base version")
    func archivedBehind() async throws {
        let desk = try await Desk()
        let isRefusing = LockedFlag()
        let store = try await desk.clone(
            hasETags: false,
            before: { request in
                guard isRefusing.isSet, request.method == .update else { return nil }
                throw ODataError(status: 400, code: "No", message: "No.")
            })
        try await store.call("Close", onTicket: 2)
        try await store.update("Tickets(2)", ["Text": "mine"])
        isRefusing.set()
        let refused = try await store.upload().failed
        #expect(refused.map(\.kind) == [.call, .update])
        try await desk.service.update("Tickets(2)", ["Text": "theirs"])
        try await store.changes.retry([try #require(refused.first).id])
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.map(\.kind) == [.call])
        #expect(desk.calls.names == ["Close"])
        isRefusing.clear()
        try await store.changes.retry()
        let conflicts = try await store.upload().failed
        #expect(conflicts.map { $0.failure?.isConflict } == [true])
        #expect(conflicts.map { $0.failure?.theirs?["Text"] } == ["theirs"])
        #expect(try await desk.ticket(2)["Text"] == "theirs")
    }

    @Test("is shown in the archive as far as a new model allows")
    func migrated() async throws {
        func ranked(_ type: String) async throws -> Desk {
            let text = #"<Property Name="Text" Type="Edm.String"/>"#
            return try await Desk {
                $0.replacingOccurrences(of: text, with: text + #"<Property Name="Rank" Type="\#(type)"/>"#)
            }
        }
        let desk = try await ranked("Edm.Int32")
        let store = try await desk.clone()
        try await store.call("Close")
        try await desk.service.update("Tickets(1)", ["Rank": 5])
        #expect(try await store.upload().failed.map { $0.failure?.theirs?["Rank"] } == [5])
        try store.close()
        let newer = try await ranked("Edm.Boolean")
        let migrated = try await desk.reopen(at: newer).maintenance.refreshMetadata().store
        let failure = try #require(try await migrated.observe.status().failed.first?.failure)
        #expect(failure.theirs?["State"] == "open")
        #expect(failure.theirs?["Rank"] == nil)
    }
}
