import ODataModel
import Testing

@testable import ODataFormat

/// A deterministic random number generator, so that each run tries the same damage.
private struct Dice: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ (state >> 29)
    }
}

@Suite("Damaged payloads")
struct MutationTests {
    private let model: EntityDataModel
    private let type = LegacyService.room

    init() throws { model = try LegacyService.model() }

    /// Returns a feed in a format.
    private func feed(_ format: PayloadFormat) throws -> [UInt8] {
        var room = try #require(ODataEntity(ofSet: "Rooms", model: model))
        room["Id"] = "1"
        room["Seats"] = 5
        room["Built"] = .dateTime(ODataDateTime(seconds: 0))
        room["Plan"] = .binary([1, 2, 3])
        try room.set(3, at: "Site/Spot/Row", model: model)
        room.control.id = "Rooms('1')"
        room.related["Building"] = .one(
            ODataEntity(shape: try #require(model.shape(ofSet: "Buildings")), ["Id": "7"]))
        var writer = PayloadEncoder(model: model, format: format).collection(type: type)
        writer.begin(url: "Rooms", set: "Rooms", context: "$metadata#Rooms", count: 2)
        writer.entity(room)
        writer.entity(room)
        writer.removed(id: "Rooms('2')", reason: "deleted")
        writer.end(nextLink: "N", deltaLink: "D")
        return writer.takeBytes()
    }

    private func damaged(_ bytes: [UInt8], _ dice: inout Dice) -> [UInt8] {
        let grammar = Array("{}[]\",:<>/=&;\\'-0e\u{0}\u{FF}".utf8)
        var result = bytes
        for _ in 0...Int.random(in: 0..<3, using: &dice) where !result.isEmpty {
            let place = Int.random(in: 0..<result.count, using: &dice)
            switch Int.random(in: 0..<4, using: &dice) {
            case 0: result[place] = grammar.randomElement(using: &dice) ?? 0
            case 1: result.insert(grammar.randomElement(using: &dice) ?? 0, at: place)
            case 2: result.removeSubrange(place..<min(result.count, place + Int.random(in: 1..<9, using: &dice)))
            default:
                let end = min(result.count, place + Int.random(in: 1..<40, using: &dice))
                result.insert(contentsOf: result[place..<end], at: place)
            }
        }
        return result
    }

    private func read(
        _ bytes: [UInt8], _ format: PayloadFormat, chunk: Int
    ) throws(PayloadError) -> [CollectionPayloadReader.Element] {
        var reader = PayloadDecoder(model: model, format: format).collection(type: type)
        var result: [CollectionPayloadReader.Element] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            try reader.append(rest.prefix(chunk))
            rest = rest.dropFirst(chunk)
            while let element = try reader.next() { result.append(element) }
        }
        try reader.finish()
        while let element = try reader.next() { result.append(element) }
        return result
    }

    @Test(
        "are read or refused in the same way for any chunk size, without a crash",
        arguments: [PayloadFormat.json(.v4), .json(.v3), .verboseJSON(.v2), .atom(.v2), .atom(.v4)])
    func payloads(format: PayloadFormat) throws {
        let whole = try feed(format)
        #expect(try read(whole, format, chunk: whole.count).count == 4)
        var dice = Dice(state: 1)
        for _ in 0..<300 {
            let bytes = damaged(whole, &dice)
            let atOnce = Result { () throws(PayloadError) in try read(bytes, format, chunk: bytes.count) }
            let inPieces = Result { () throws(PayloadError) in try read(bytes, format, chunk: 23) }
            switch (atOnce, inPieces) {
            case (.success(let left), .success(let right)): #expect(left == right)
            case (.failure, .failure): break
            default: Issue.record("\(String(decoding: bytes, as: UTF8.self)): \(atOnce) and \(inPieces)")
            }
            let decoder = PayloadDecoder(model: model, format: format)
            _ = try? decoder.entity(bytes, type: type)
            _ = try? decoder.value(bytes, type: .collection(.entity(type)))
            _ = try? decoder.references(bytes)
            _ = try? decoder.serviceDocument(bytes)
            _ = try? decoder.error(bytes)
        }
    }

    @Test("batches are read or refused in the same way for any chunk size", arguments: [true, false])
    func batches(isJSON: Bool) throws {
        let parts = [
            BatchRequestPart(id: "1", method: "GET", url: "A"),
            BatchRequestPart(
                id: "2", method: "POST", url: "B", headers: [BatchHeader("Content-Type", "application/json")],
                body: Array("{}".utf8), atomicityGroup: "g"),
            BatchRequestPart(id: "3", method: "DELETE", url: "C", atomicityGroup: "g"),
        ]
        let whole =
            isJSON ? JSONBatch.writeRequest(parts) : MultipartBatch.writeRequest(parts, boundary: "b")
        func read(_ bytes: [UInt8], _ chunk: Int) throws(BatchError) -> [BatchRequestPart] {
            var reader = try BatchRequestReader(contentType: isJSON ? "application/json" : "multipart/mixed;boundary=b")
            var result: [BatchRequestPart] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                reader.append(rest.prefix(chunk))
                rest = rest.dropFirst(chunk)
                while let part = try reader.next() { result.append(part) }
            }
            reader.finish()
            while let part = try reader.next() { result.append(part) }
            return result
        }
        var dice = Dice(state: 2)
        for _ in 0..<2000 {
            let bytes = damaged(whole, &dice)
            let atOnce = Result { () throws(BatchError) in try read(bytes, bytes.count + 1) }
            let inPieces = Result { () throws(BatchError) in try read(bytes, 5) }
            #expect(atOnce == inPieces, "\(String(decoding: bytes, as: UTF8.self))")
        }
    }
}
