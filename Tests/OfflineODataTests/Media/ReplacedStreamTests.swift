import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("A locally replaced or deleted stream")
struct ReplacedStreamTests {
    static let content = "Pictures(1)/$value"

    /// Returns a store of pictures with streams. The service refuses stream changes while a flag is set.
    private func clone(
        _ studio: Studio, refusing flag: LockedFlag = LockedFlag()
    ) async throws -> OfflineStore {
        let service = Gateway(
            base: try studio.client(),
            before: { request in
                guard flag.isSet, case .media = request.body else { return nil }
                throw ODataError(status: 415, code: "No", message: "No.")
            })
        return try await studio.clone(
            [try DefiningQuery("p", "Pictures", retrievesStreams: true)], through: service)
    }

    // MARK: Undo

    @Test("is the downloaded stream again after an undo", arguments: ["undo", "cancel", "all"])
    func takenBack(way: String) async throws {
        let studio = try await Studio()
        let store = try await clone(studio)
        for text in ["two", "three"] { try await store.replaceStream(Self.content, text) }
        try await store.download()
        try await store.maintenance.compact()
        #expect(try await store.stream(Self.content) == "three")
        switch way {
        case "undo": #expect(try await store.changes.undo([ODataURL(parsing: "Pictures(1)")]) == 1)
        case "cancel": #expect(try await store.changes.cancel(store.observe.status().pending.map(\.id)) == 1)
        default: #expect(try await store.changes.undoAll() == 1)
        }
        await studio.wire.cut { _, _ in .lostOnTheWay }
        #expect(try await store.stream(Self.content) == "one")
        #expect(try await store.observe.status().pending.isEmpty)
    }

    @Test("is the downloaded stream again after an undo of its deletion")
    func deletionTakenBack() async throws {
        let studio = try await Studio()
        try await studio.service.replaceStream("Pictures(1)/Thumb", "small")
        let store = try await clone(studio)
        let thumb = try ODataURL(parsing: "Pictures(1)/Thumb")
        _ = try await store.execute(ODataRequest(.delete, thumb))
        #expect(try await !store.streams.isLoaded(thumb))
        #expect(try await store.changes.undo([ODataURL(parsing: "Pictures(1)")]) == 1)
        #expect(try await store.stream("Pictures(1)/Thumb") == "small")
    }

    @Test(
        "is the downloaded stream again after an undo of a deletion with a refused replacement before",
        arguments: [true, false])
    func deletionOfRefusedTakenBack(isCancelled: Bool) async throws {
        let studio = try await Studio()
        let isRefusing = LockedFlag()
        let store = try await clone(studio, refusing: isRefusing)
        try await store.replaceStream(Self.content, "two")
        try await store.update("Pictures(1)", ["Title": "Sea"])
        isRefusing.set()
        #expect(try await store.upload().failed.map(\.kind) == [.stream])
        isRefusing.clear()
        try await store.delete("Pictures(1)")
        if isCancelled {
            try await store.changes.cancel([try #require(try await store.observe.status().pending.last).id])
            #expect(try await store.observe.status().pending.map(\.kind) == [.update])
        } else {
            try await store.changes.undoAll()
        }
        #expect(try await store.stream(Self.content) == "one")
        #expect(try await store.keptStreams() == [1, 1])
    }

    @Test("becomes the stream of the last download if others replaced it meanwhile")
    func renewedBehind() async throws {
        let studio = try await Studio()
        let store = try await clone(studio)
        try await store.replaceStream(Self.content, "mine")
        try await studio.service.replaceStream(Self.content, "theirs")
        try await store.download()
        #expect(try await store.stream(Self.content) == "mine")
        try await store.changes.undoAll()
        #expect(try await store.stream(Self.content) == "theirs")
    }

    /// The way in which a conflicting stream change is withdrawn.
    enum GivingUp: CaseIterable, Sendable {
        /// From the error archive, as a conflict.
        case archived
        /// Immediately, in favour of the server version.
        case yielded
        /// From the error archive, after the service refused the change on top of the server version.
        case rebased
    }

    @Test(
        "is loaded again after a withdrawn conflict",
        arguments: GivingUp.allCases)
    func conflictGivenUp(way: GivingUp) async throws {
        let studio = try await Studio()
        let isRefusing = LockedFlag()
        let store = try await clone(studio, refusing: isRefusing)
        try await store.replaceStream(Self.content, "mine")
        try await studio.service.replaceStream(Self.content, "theirs")
        switch way {
        case .archived:
            #expect(try await store.upload().failed.map(\.failure?.isConflict) == [true])
            try await store.changes.discard()
        case .yielded:
            let report = try await store.upload(options: UploadOptions(conflictPolicy: .serverWins))
            #expect(report.givenUp.map(\.kind) == [.stream])
        case .rebased:
            let policy = ConflictPolicy.custom { _ in
                isRefusing.set()
                return .mine
            }
            let report = try await store.upload(options: UploadOptions(conflictPolicy: policy))
            #expect(report.failed.map(\.failure?.status) == [415])
            try await store.changes.discard()
        }
        #expect(try await !store.streams.isLoaded(ODataURL(parsing: Self.content)))
        try await store.download()
        #expect(try await store.stream(Self.content) == "theirs")
    }

    @Test("frees the old stream once the service accepted the new one")
    func room() async throws {
        let studio = try await Studio()
        try await studio.service.replaceStream("Pictures(1)/Thumb", "small")
        let store = try await clone(studio)
        try await store.replaceStream(Self.content, "two")
        _ = try await store.execute(ODataRequest(.delete, try ODataURL(parsing: "Pictures(1)/Thumb")))
        #expect(try await store.keptStreams() == [3, 3], "until then both are kept")
        #expect(try await store.upload().accepted.map(\.kind) == [.stream, .stream])
        #expect(try await store.keptStreams() == [1, 1])
        #expect(try await store.stream(Self.content) == "two")
    }

    // MARK: Correcting refused changes

    @Test("repairs a refused replacement", arguments: [content, "Pictures(1)/Thumb"])
    func mended(stream: String) async throws {
        let studio = try await Studio()
        let isRefusing = LockedFlag()
        let store = try await clone(studio, refusing: isRefusing)
        try await store.replaceStream(stream, "bad")
        try await store.update("Pictures(1)", ["Title": "Sea"])
        isRefusing.set()
        let report = try await store.upload()
        #expect(report.failed.map(\.kind) == [.stream] && report.waiting.map(\.kind) == [.update])
        isRefusing.clear()
        try await store.replaceStream(stream, "good")
        #expect(try await store.stream(stream) == "good")
        #expect(try await store.upload().accepted.map(\.kind) == [.stream, .update])
        #expect(try await studio.service.stream(stream) == "good")
        #expect(try await store.observe.status().failed.isEmpty)
    }

    @Test("repairs a media entity creation that was refused for its stream")
    func mendedCreation() async throws {
        let studio = try await Studio()
        let isRefusing = LockedFlag()
        let store = try await clone(studio, refusing: isRefusing)
        _ = try await store.createMedia("Pictures", "bad")
        isRefusing.set()
        #expect(try await store.upload().failed.map(\.kind) == [.create])
        isRefusing.clear()
        try await store.replaceStream("Pictures(-1)/$value", "good")
        #expect(try await store.upload().accepted.map(\.kind) == [.create])
        #expect(try await studio.service.stream("Pictures(2)/$value") == "good")
        #expect(try await store.stream("Pictures(-1)/$value") == "good")
    }

    @Test("resolves a conflict: a user who replaces it again has seen the change by others")
    func mendedConflict() async throws {
        let studio = try await Studio()
        let store = try await clone(studio)
        try await store.replaceStream(Self.content, "mine")
        try await studio.service.replaceStream(Self.content, "theirs")
        #expect(try await store.upload().failed.map(\.failure?.isConflict) == [true])
        try await store.replaceStream(Self.content, "mine again")
        #expect(try await store.upload().accepted.map(\.kind) == [.stream])
        #expect(try await studio.service.stream(Self.content) == "mine again")
    }

    @Test(
        "that is sent again after a conflict overwrites no later version",
        arguments: ["retry", "replace"])
    func conflictAgain(way: String) async throws {
        let studio = try await Studio()
        let store = try await clone(studio)
        try await store.replaceStream(Self.content, "mine")
        try await studio.service.replaceStream(Self.content, "theirs")
        #expect(try await store.upload().failed.map(\.failure?.isConflict) == [true])
        try await studio.service.replaceStream(Self.content, "theirs again")
        if way == "retry" {
            try await store.changes.retry()
        } else {
            try await store.replaceStream(Self.content, "mine again")
        }
        #expect(try await store.upload().failed.map(\.failure?.isConflict) == [true])
        #expect(try await studio.service.stream(Self.content) == "theirs again")
    }

    @Test("repairs nothing if it is unmodifiable: it waits behind the refused request")
    func unmodifiable() async throws {
        let studio = try await Studio()
        let isRefusing = LockedFlag()
        let store = try await clone(studio, refusing: isRefusing)
        try await store.replaceStream(Self.content, "bad")
        isRefusing.set()
        #expect(try await store.upload().failed.map(\.kind) == [.stream])
        isRefusing.clear()
        try await store.changes.provider(with: ChangeOptions(isUnmodifiable: true)).replaceStream(Self.content, "good")
        #expect(try await store.upload().waiting.map(\.kind) == [.stream])
        #expect(try await store.observe.status().failed.map(\.kind) == [.stream])
    }

    // MARK: Contained streams

    @Test("of a contained entity is sent by its path, also after several replacements")
    func contained() async throws {
        let studio = try await Studio()
        try await studio.picture("Albums(1)/Scans", Array("first".utf8))
        guard case .integer(let number)? = try await studio.service.rows("Albums(1)/Scans").first?["ID"] else {
            throw ODataError.notFound("ID")
        }
        let scan = "Albums(1)/Scans(\(number))/$value"
        let store = try await studio.clone([try DefiningQuery("a", "Albums?$expand=Scans", retrievesStreams: true)])
        for text in ["second", "third"] { try await store.replaceStream(scan, text) }
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.map(\.entityText) == [scan])
        #expect(try await studio.service.stream(scan) == "third")
    }
}

extension OfflineStore {
    /// Returns the numbers of streams and chunks in the file of the store.
    func keptStreams() async throws -> [Int?] {
        try await DatabaseQueue(path: directory + "/store.db").read { database in
            try ["outpost_stream", "outpost_stream_chunk"].map {
                try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM \($0)")
            }
        }
    }
}
