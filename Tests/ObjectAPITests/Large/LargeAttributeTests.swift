import Foundation
import ODataModel
import ODataQuery
import ODataService
import ObjectAPI
import OfflineOData
import Testing

@Suite("A large attribute")
struct LargeAttributeTests {
    private static let name = "Depot.Parcel/Label"

    /// A database with one parcel, and the parcel.
    private func parcel(_ service: DepotService) async throws -> (depot: DepotDatabase, parcel: Parcel) {
        try await service.add("Parcels", ["Title": "Books"])
        let depot = try await service.synchronized()
        return (depot, try #require(try await depot.parcels.first()))
    }

    @Test("is written in pieces, held, submitted, sent, and loaded by another database")
    func roundTrip() async throws {
        let service = try await DepotService()
        var (depot, parcel) = try await parcel(service)
        let label = depot.large(\.label, of: parcel)
        let piece = [UInt8](0...249)
        try await label.write { writer in
            for _ in 0..<3000 { try await writer.write(piece) }
        }
        parcel = try await depot.refresh(parcel)
        #expect(parcel.objectState.pendingChange == .update && parcel.objectState.isUpdated)
        #expect(try await depot.synchronize().accepted == 0, "nothing was submitted")
        try await depot.submitPending(parcel)
        #expect(try await depot.synchronize().accepted == 1)
        let id = try #require(parcel.id)
        let sent = try await service.bytes("Parcels(\(id))/Label")
        #expect(sent.count == 750_000 && sent.prefix(250) == piece[...] && sent.suffix(250) == piece[...])

        let other = try await service.synchronized("other")
        let theirs = other.large(\.label, of: try await other.parcels.load(id))
        #expect(try await !theirs.isLoaded())
        await #expect(throws: ODataError.self) { try await theirs.openForReading() }
        #expect(try await theirs.load())
        #expect(try await theirs.isLoaded())
        let reader = try await theirs.openForReading()
        #expect(try await reader.byteCount == 750_000)
        var count = 0
        while let chunk = try await reader.read(upTo: 1024) {
            #expect(chunk.count <= 1024)
            count += chunk.count
        }
        #expect(count == 750_000)
        #expect(try await reader.read(upTo: 1024) == nil)
        #expect(try await reader.readByte() == nil, "the end stays the end")
        try await reader.seek(to: 262_144)
        #expect(try await reader.read(upTo: 3) == Array((262_144..<262_147).map { UInt8($0 % 250) }))
        #expect(try await reader.position == 262_147)
        try await reader.seek(to: -5)
        #expect(try await reader.readByte() == 0)
        try await reader.seek(to: 1_000_000)
        #expect(try await reader.readByte() == nil)
        #expect(try await reader.position == 750_000)
        try await reader.close()
    }

    @Test("has three states and refuses a step that its state does not allow")
    func states() async throws {
        let service = try await DepotService()
        let (depot, parcel) = try await parcel(service)
        let label = depot.large(\.label, of: parcel)
        let notOpen = ObjectError.streamNotOpen(attribute: Self.name)
        let notClosed = ObjectError.streamNotClosed(attribute: Self.name)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("label-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: file) }

        // Closed, then writing.
        let writer = try await label.openForWriting()
        try await writer.write([1, 2, 3])
        try await writer.flush()
        await #expect(throws: notClosed) { try await label.openForWriting() }
        await #expect(throws: notClosed) { try await label.copy(fromFile: file) }
        await #expect(throws: notClosed) { try await label.copy(toFile: file) }
        await #expect(throws: notClosed) { try await label.remove() }
        // Writing, then reading: the value is published first.
        let reader = try await label.openForReading()
        #expect(try await reader.read(upTo: 10) == [1, 2, 3])
        await #expect(throws: notOpen) { try await writer.write([4]) }
        await #expect(throws: notOpen) { try await writer.flush() }
        await #expect(throws: notOpen) { try await writer.close() }
        // Reading again is nothing: the position stays.
        let same = try await label.openForReading()
        #expect(try await same.read(upTo: 10) == nil)
        await #expect(throws: notClosed) { try await label.openForWriting() }
        await #expect(throws: notClosed) { try await label.copy(toFile: file) }
        // Reading, then closed.
        try await reader.close()
        await #expect(throws: notOpen) { try await reader.read(upTo: 1) }
        await #expect(throws: notOpen) { try await reader.seek(to: 0) }
        await #expect(throws: notOpen) { try await reader.close() }
        // Files, only while closed.
        try await label.copy(toFile: file)
        #expect(FileManager.default.contents(atPath: file) == Data([1, 2, 3]))
        try Data([9, 8]).write(to: URL(fileURLWithPath: file))
        try await label.copy(fromFile: file)
        #expect(try await label.openForReading().read(upTo: 10) == [9, 8])
    }

    @Test("keeps its value until the writer is closed, also when it is discarded or fails")
    func publishing() async throws {
        struct Enough: Error {}
        let service = try await DepotService()
        let (depot, parcel) = try await parcel(service)
        let label = depot.large(\.label, of: parcel)
        try await label.write { try await $0.write([1]) }
        let writer = try await label.openForWriting()
        try await writer.write([UInt8](repeating: 7, count: 300_000))
        #expect(try await depot.large(\.label, of: parcel).openForReading().read(upTo: 10) == [1])
        await writer.discard()
        await #expect(throws: Enough.self) {
            try await label.write { writer in
                try await writer.write([2])
                throw Enough()
            }
        }
        #expect(try await label.openForReading().read(upTo: 10) == [1])
        #expect(try await depot.store.changes.held().count == 1)
    }

    @Test("accepts as many bytes as announced", arguments: [2, 4])
    func length(written: Int) async throws {
        let service = try await DepotService()
        let (depot, parcel) = try await parcel(service)
        let label = depot.large(\.label, of: parcel)
        try await label.write(byteCount: 1) { try await $0.write([1]) }
        await #expect(throws: ObjectError.overLength(attribute: Self.name, announced: 3)) {
            try await label.write(byteCount: 3) { try await $0.write([UInt8](repeating: 5, count: written)) }
        }
        #expect(try await label.openForReading().read(upTo: 10) == [1])
    }

    @Test("of an unsaved or deleted object is refused")
    func missing() async throws {
        let service = try await DepotService()
        let (depot, parcel) = try await parcel(service)
        let draft = depot.large(\.label, of: Parcel(title: "Maps"))
        let notSaved = ObjectError.notSaved(type: Parcel.typeName)
        await #expect(throws: notSaved) { try await draft.openForReading() }
        await #expect(throws: notSaved) { try await draft.openForWriting() }
        await #expect(throws: notSaved) { try await draft.copy(fromFile: "/nowhere") }
        await #expect(throws: notSaved) { try await draft.copy(toFile: "/nowhere") }
        let label = depot.large(\.label, of: parcel)
        try await label.write { try await $0.write([1]) }
        try await label.remove()
        await #expect(throws: ObjectError.self) { try await label.openForReading() }
        try await depot.delete(parcel)
        await #expect(throws: ObjectError.self) { try await label.openForReading() }
    }

    @Test("is discarded with the other changes of its object")
    func cancelled() async throws {
        let service = try await DepotService()
        let (depot, parcel) = try await parcel(service)
        let label = depot.large(\.label, of: parcel)
        try await label.write { try await $0.write([1]) }
        try await depot.cancelPending(parcel)
        #expect(try await depot.hasPendingChanges() == false)
        #expect(try await !label.isLoaded())
    }

    @Test("of a media entity is its stream")
    func media() async throws {
        let service = try await DepotService()
        var request = ODataRequest(
            .create, try ODataURL(parsing: "Papers"), body: .media(ByteStream([4, 5, 6]), contentType: "text/plain"))
        request.preferences = Preferences(returns: .minimal)
        _ = try await service.service.execute(request)
        let depot = try await service.synchronized()
        let paper = try #require(try await depot.papers.first())
        let content = depot.large(contentOf: paper)
        try await content.load()
        #expect(try await content.openForReading().read(upTo: 10) == [4, 5, 6])
    }

    @Test("of 64 MB is written to the file and never completely in memory")
    func memory() async throws {
        let service = try await DepotService()
        let (depot, parcel) = try await parcel(service)
        let label = depot.large(\.label, of: parcel)
        let directory = depot.store.directory
        let piece = [UInt8](repeating: 1, count: 1 << 20)
        try await label.write(byteCount: 64 << 20) { writer in
            for written in 1...64 {
                try await writer.write(piece)
                try await writer.flush()
                #expect(Self.fileSize(directory) > (written - 2) << 20)
            }
        }
        let reader = try await label.openForReading()
        var count = 0
        while let chunk = try await reader.read(upTo: 100_000) { count += chunk.count }
        #expect(count == 64 << 20)
    }

    /// The bytes of the files in a folder.
    private static func fileSize(_ directory: String) -> Int {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return files.reduce(0) { total, file in
            let attributes = try? FileManager.default.attributesOfItem(atPath: "\(directory)/\(file)")
            return total + (attributes?[.size] as? Int ?? 0)
        }
    }
}
