import ODataModel
import TestModels
import Testing

@testable import ODataFormat

/// Documents of each kind, whole and truncated after every byte.
@Suite("Truncated documents")
struct TruncationTests {
    /// A kind of document, with an example and a function that reads it.
    struct Kind: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let bytes: [UInt8]
        let read: @Sendable ([UInt8]) throws -> Void

        init(_ name: String, _ bytes: [UInt8], _ read: @escaping @Sendable ([UInt8]) throws -> Void) {
            testDescription = name
            var bytes = bytes
            // White space after the end of a document may be missing.
            while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
            self.bytes = bytes
            self.read = read
        }
    }

    private static func feed(_ format: PayloadFormat, _ model: EntityDataModel) throws -> Kind {
        var room = try #require(ODataEntity(ofSet: "Rooms", model: model))
        room["Id"] = "1ü"
        room["Seats"] = 5
        room["Built"] = .dateTime(ODataDateTime(seconds: 0))
        room["Plan"] = .binary([1, 2, 3])
        try room.set(3, at: "Site/Spot/Row", model: model)
        room.control.id = "Rooms('1')"
        room.related["Building"] = .one(ODataEntity(shape: try #require(model.shape(ofSet: "Buildings")), ["Id": "7"]))
        var writer = PayloadEncoder(model: model, format: format).collection(type: LegacyService.room)
        writer.begin(url: "Rooms", set: "Rooms", context: "$metadata#Rooms", count: 2)
        writer.entity(room)
        writer.removed(id: "Rooms('2')", reason: "deleted")
        writer.end(nextLink: "N", deltaLink: "D")
        return Kind("feed, \(format)", writer.takeBytes()) { bytes in
            var reader = PayloadDecoder(model: model, format: format).collection(type: LegacyService.room)
            try reader.append(bytes)
            try reader.finish()
            while try reader.next() != nil {}
        }
    }

    private static func entry(_ format: PayloadFormat, _ model: EntityDataModel) throws -> Kind {
        let shape = try #require(model.shape(ofSet: "Buildings"))
        let bytes = PayloadEncoder(model: model, format: format).entity(ODataEntity(shape: shape, ["Id": "7"]))
        return Kind("entry, \(format)", bytes) { bytes in
            _ = try PayloadDecoder(model: model, format: format).entity(bytes, type: shape.name)
        }
    }

    private static func kinds() throws -> [Kind] {
        let legacy = try LegacyService.model()
        let current = try SampleService.model()
        let requests = [
            BatchRequestPart(id: "1", method: "GET", url: "A"),
            BatchRequestPart(
                id: "2", method: "POST", url: "B", headers: [BatchHeader("Content-Type", "application/json")],
                body: Array("{}".utf8), atomicityGroup: "g"),
        ]
        let answers = [BatchResponsePart(id: "1", status: 200, headers: [], body: Array("{}".utf8))]
        let error = ODataErrorPayload(code: "c", message: "m", target: "t", details: [.init(code: "d", message: "n")])
        let encoder = PayloadEncoder(model: current, format: .json(.v401))
        let search = OpenSearchDescription(
            shortName: "s", text: "t", templates: [.init(template: "http://h/{searchTerms}", type: "text/xml")])
        let subscription = SubscriptionDocument(
            id: "1", title: "t", deliveryAddress: "http://h", collection: "Rooms", filter: "Seats gt 5",
            changeType: "created", persistsNotifications: true)
        var kinds = [
            Kind("CSDL XML of V2", CSDLWriter.xml(legacy, version: .v2)) { _ = try CSDLReader.read($0) },
            Kind("CSDL XML of V4", CSDLWriter.xml(current)) { _ = try CSDLReader.read($0) },
            Kind("CSDL JSON", CSDLWriter.json(current)) { _ = try CSDLReader.read($0) },
            Kind("service document in JSON", encoder.serviceDocument(baseURL: nil, context: "$metadata")) {
                _ = try ServiceDocument(json: $0)
            },
            Kind("service document in XML", AtomServiceDocument(model: legacy, baseURL: "http://h/").write()) {
                _ = try AtomServiceDocument(xml: $0)
            },
            Kind("OpenSearch", search.write()) { _ = try OpenSearchDescription(xml: $0) },
            Kind("subscription", subscription.write()) { _ = try SubscriptionDocument(xml: $0) },
            Kind("error in JSON", encoder.error(error)) { _ = try ODataErrorPayload(json: $0) },
            Kind("error in XML", error.writeXML()) { _ = try ODataErrorPayload(xml: $0) },
            Kind("JSON batch", JSONBatch.writeRequest(requests)) { _ = try JSONBatch.readRequest($0) },
            Kind("answers to a JSON batch", JSONBatch.writeResponse(answers)) { _ = try JSONBatch.readResponse($0) },
            Kind("multipart batch", MultipartBatch.writeRequest(requests, boundary: "b")) {
                _ = try MultipartBatch.readRequest($0, boundary: "b")
            },
        ]
        for format in [PayloadFormat.json(.v4), .json(.v3), .verboseJSON(.v2), .atom(.v2), .atom(.v4)] {
            kinds.append(try feed(format, legacy))
            kinds.append(try entry(format, legacy))
        }
        return kinds
    }

    @Test("every prefix of each kind of document gives a typed error")
    func prefixes() throws {
        let kinds = try Self.kinds()
        #expect(kinds.count > 20)
        for kind in kinds {
            #expect(throws: Never.self, "\(kind.testDescription)") { try kind.read(kind.bytes) }
            for count in 0..<kind.bytes.count {
                do {
                    try kind.read(Array(kind.bytes[..<count]))
                    Issue.record("\(kind.testDescription): \(count) of \(kind.bytes.count) bytes are read")
                } catch is CSDLError {
                } catch is PayloadError {
                } catch is BatchError {
                }
            }
        }
    }
}
