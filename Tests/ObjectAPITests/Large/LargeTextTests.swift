import ODataModel
import ODataService
import ObjectAPI
import Testing

@Suite("A large text")
struct LargeTextTests {
    private static let text = "Grüße – 日本語 👋🏽 end"

    private func notes(_ service: DepotService, _ text: String) async throws -> LargeText {
        try await service.add("Parcels", ["Title": "Books"])
        let depot = try await service.synchronized()
        let notes = depot.large(\.notes, of: try #require(try await depot.parcels.first()))
        try await notes.write(byteCount: Int64(text.utf8.count)) { try await $0.write(text) }
        return notes
    }

    @Test("is read in whole characters for any chunk size", arguments: 1...9)
    func pieces(size: Int) async throws {
        let notes = try await notes(try await DepotService(), Self.text)
        let reader = try await notes.openForReading()
        var read = ""
        while let piece = try await reader.read(upTo: size) {
            #expect(piece.utf8.count <= max(size, 4))
            read.unicodeScalars += piece.unicodeScalars
        }
        #expect(Array(read.utf8) == Array(Self.text.utf8))
        #expect(try await reader.position == Int64(Self.text.utf8.count))
        try await reader.close()
    }

    @Test("seeks only to beginnings of characters")
    func positions() async throws {
        let notes = try await notes(try await DepotService(), Self.text)
        let reader = try await notes.openForReading()
        let starts = Set(
            Self.text.unicodeScalars.indices.map { Self.text.utf8.distance(from: Self.text.startIndex, to: $0) })
        for position in 0..<Self.text.utf8.count {
            if starts.contains(position) {
                try await reader.seek(to: Int64(position))
                let expected = Self.text.unicodeScalars[Self.text.utf8.index(Self.text.startIndex, offsetBy: position)]
                #expect(try await reader.readCharacter() == expected)
            } else {
                let former = try await reader.position
                await #expect(
                    throws: ObjectError.notAtCharacter(attribute: "Depot.Parcel/Notes", position: Int64(position))
                ) { try await reader.seek(to: Int64(position)) }
                #expect(try await reader.position == former, "the position stays")
            }
        }
        try await reader.seek(to: 1_000)
        #expect(try await reader.readCharacter() == nil)
    }

    @Test("counts the announced size in bytes")
    func size() async throws {
        let notes = try await notes(try await DepotService(), "a")
        await #expect(throws: ObjectError.overLength(attribute: "Depot.Parcel/Notes", announced: 3)) {
            try await notes.write(byteCount: 3) { try await $0.write("üü") }
        }
        let writer = try await notes.openForWriting()
        try await writer.write("b")
        try await writer.flush()
        try await writer.close()
        #expect(try await notes.openForReading().read(upTo: 10) == "b")
    }
}
