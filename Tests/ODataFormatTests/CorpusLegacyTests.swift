import Foundation
import ODataModel
import TestCorpus
import Testing

@testable import ODataFormat

/// Returns a model for the V2 payloads of the corpus, inferred from the payloads.
private func referenceModel() throws -> EntityDataModel {
    func entity(_ name: String, _ key: String, _ properties: String, _ navigation: String = "") -> String {
        "<EntityType Name=\"\(name)\" OpenType=\"false\"><Key><PropertyRef Name=\"\(key)\"/></Key>\(properties)\(navigation)</EntityType>"
    }
    func property(_ name: String, _ type: String = "Edm.String") -> String {
        "<Property Name=\"\(name)\" Type=\"\(type)\"/>"
    }
    func leads(_ name: String, _ type: String) -> String { "<NavigationProperty Name=\"\(name)\" Type=\"\(type)\"/>" }
    let employee =
        ["EmployeeId", "EmployeeName", "ManagerId", "RoomId", "TeamId", "ImageUrl"].map { property($0) }.joined()
        + property("Location", "RefScenario.c_Location") + property("Age", "Edm.Int16")
        + property("EntryDate", "Edm.DateTime")
    let employeeLinks =
        leads("ne_Manager", "RefScenario.Employee") + leads("ne_Team", "RefScenario.Team")
        + leads("ne_Room", "RefScenario.Room")
    let types = [
        entity("Employee", "EmployeeId", employee, employeeLinks),
        entity(
            "Team", "Id", property("Id") + property("Name") + property("isScrumTeam", "Edm.Boolean"),
            leads("nt_Employees", "Collection(RefScenario.Employee)")),
        entity(
            "Room", "Id",
            property("Id") + property("Name") + property("Seats", "Edm.Int16") + property("Version", "Edm.Int16"),
            leads("nr_Employees", "Collection(RefScenario.Employee)") + leads("nr_Building", "RefScenario.Building")),
        entity(
            "Building", "Id", property("Id") + property("Name") + property("Image", "Edm.Binary"),
            leads("nb_Rooms", "Collection(RefScenario.Room)")),
        "<ComplexType Name=\"c_Location\">\(property("City", "RefScenario.c_City") + property("Country"))</ComplexType>",
        "<ComplexType Name=\"c_City\">\(property("PostalCode") + property("CityName"))</ComplexType>",
        "<EntityContainer Name=\"C\">"
            + ["Employee", "Team", "Room", "Building"].map {
                "<EntitySet Name=\"\($0)s\" EntityType=\"RefScenario.\($0)\"/>"
            }.joined() + "</EntityContainer>",
    ]
    let document = """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
        <Schema Namespace="RefScenario" xmlns="http://docs.oasis-open.org/odata/ns/edm">\(types.joined())</Schema>
        </edmx:DataServices></edmx:Edmx>
        """
    return try CSDLReader.read(xml: Array(document.utf8))
}

/// Returns the type that shares the most properties with a payload.
private func likelyType(_ text: String, _ model: EntityDataModel) -> QualifiedName {
    let first = ["EmployeeId", "isScrumTeam", "Seats", "Image"].compactMap { name in
        text.firstRange(of: name).map { (name, $0.lowerBound) }
    }.min { $0.1 < $1.1 }?.0
    let name = ["EmployeeId": "Employee", "isScrumTeam": "Team", "Seats": "Room", "Image": "Building"][first ?? ""]
    return QualifiedName("RefScenario", name ?? "Employee")
}

private func elements(
    _ bytes: [UInt8], _ decoder: PayloadDecoder, _ type: QualifiedName, chunk: Int
) throws(PayloadError) -> [CollectionPayloadReader.Element] {
    var reader = decoder.collection(type: type)
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

@Suite("Corpus: payloads of V2", .enabled(if: Corpus.isPresent, "no corpus at ../shared/corpus or OUTPOST_CORPUS"))
struct CorpusLegacyTests {
    static let json = Corpus.files("payloads-v2") { $0.hasSuffix(".json") }
    static let xml =
        Corpus.files("payloads-v2") { $0.hasSuffix(".xml") } + Corpus.files("payloads-v4") { $0.hasSuffix(".xml") }
    private static let formats: [PayloadFormat] = [.verboseJSON(.v2), .atom(.v2), .json(.v3), .json(.v401), .atom(.v4)]

    /// Checks that an entity is unchanged after writing and reading in each format.
    private func checkRoundTrip(_ entity: ODataEntity, _ model: EntityDataModel) throws {
        for format in Self.formats {
            let bytes = PayloadEncoder(model: model, format: format).entity(entity, declared: entity.shape.name)
            let again = try PayloadDecoder(model: model, format: format).entity(bytes, type: entity.shape.name)
            #expect(again.entity == entity, "\(format)")
            #expect(again.entity.control.id == entity.control.id && again.entity.control.etag == entity.control.etag)
        }
    }

    @Test(
        "each JSON payload is an entry, a feed or a service document, or is refused with its place",
        arguments: json)
    func readJSON(path: String) throws {
        let bytes = try Corpus.bytes(path)
        let model = try referenceModel()
        let text = String(decoding: bytes, as: UTF8.self)
        let decoder = PayloadDecoder(model: model, format: .verboseJSON(.v2))
        let type = likelyType(text, model)
        if path.contains("svcDoc") {
            #expect(try decoder.serviceDocument(bytes).entries.count > 3)
            return
        }
        if path.contains("Invalid") {
            let error = #expect(throws: PayloadError.self) { try decoder.entity(bytes, type: type) }
            guard case .malformed(let json)? = error else {
                Issue.record("\(error as Any)")
                return
            }
            #expect(json.position.line > 1 && !json.path.isEmpty)
            return
        }
        let head = text.prefix(400).filter { !$0.isWhitespace }
        guard head.hasPrefix("{\"d\":{\"results\"") || head.hasPrefix("{\"results\"") || head.hasPrefix("{\"d\":[")
        else {
            return try checkRoundTrip(try decoder.entity(bytes, type: type).entity, model)
        }
        let whole = try elements(bytes, decoder, type, chunk: bytes.count)
        #expect(whole.count > 1)
        for chunk in [1, 61] { #expect(try elements(bytes, decoder, type, chunk: chunk) == whole) }
        for case .entity(let entity) in whole { try checkRoundTrip(entity, model) }
    }

    @Test("each XML payload is read by its root element or refused with its place", arguments: xml)
    func readXML(path: String) throws {
        let bytes = try Corpus.bytes(path)
        let root = try XMLBody.parse(bytes)
        let isReference = root.elements.contains { $0.isMetadata("ref") }
        switch root.name {
        case _ where isReference || root.name == "ref":
            let references = try ReferencePayload(xml: bytes)
            #expect(!references.ids.isEmpty)
            #expect(try ReferencePayload(xml: references.writeXML(version: .v4)) == references)
        case "service":
            if path.contains("invalid") {
                let error = #expect(throws: PayloadError.self) { try AtomServiceDocument(xml: bytes) }
                guard case .malformedXML(let xml)? = error else {
                    Issue.record("\(error as Any)")
                    return
                }
                #expect(xml.line > 1 && !xml.expected.isEmpty)
                return
            }
            let document = try AtomServiceDocument(xml: bytes)
            #expect(document.collections.count > 1)
            #expect(try AtomServiceDocument(xml: document.write()) == document)
        case "entry", "feed":
            // Most V4 payloads have no metadata; an open type accepts any property.
            let isLegacy = path.hasPrefix("payloads-v2")
            let open = StructuredType(name: QualifiedName("Any", "Entity"), kind: .entity, isOpen: true)
            let any = try EntityDataModel(schemas: [ODataSchema(namespace: "Any", structuredTypes: [open])])
            let model = isLegacy && !path.contains("Products") ? try referenceModel() : any
            let type = model === any ? open.name : likelyType(String(decoding: bytes, as: UTF8.self), model)
            let decoder = PayloadDecoder(model: model, format: .atom(isLegacy ? .v2 : .v4))
            let whole = try elements(bytes, decoder, type, chunk: bytes.count)
            #expect(whole.count > 1)
            if bytes.count < 20_000 { #expect(try elements(bytes, decoder, type, chunk: 7) == whole) }
            for case .entity(let entity) in whole.prefix(20) {
                if model === any {
                    let again = PayloadEncoder(model: model, format: .atom(.v4)).entity(entity)
                    #expect(
                        try PayloadDecoder(model: model, format: .atom(.v4)).entity(again, type: type).entity == entity)
                } else {
                    try checkRoundTrip(entity, model)
                }
            }
        default:
            // Metadata is not a payload, and all readers must reject it.
            let model = try referenceModel()
            let name = QualifiedName("RefScenario", "Room")
            #expect(throws: PayloadError.self) { try AtomEntryReader(model: model).read(bytes, type: name) }
            #expect(throws: PayloadError.self) { try AtomServiceDocument(xml: bytes) }
            #expect(throws: PayloadError.self) { try ReferencePayload(xml: bytes) }
        }
    }

    /// Five documents of each kind.
    private static let short = [json, xml].flatMap { paths in
        paths.filter { path in
            ((try? Corpus.bytes(path).count) ?? .max) < 3000 && !path.contains("nvalid") && !path.contains("svcDoc")
        }.prefix(5)
    }

    @Test("each short payload cut at every byte gives a typed error", arguments: short)
    func prefixes(path: String) throws {
        let bytes = try Corpus.bytes(path)
        let model = try referenceModel()
        let decoder = PayloadDecoder(model: model, format: path.hasSuffix(".json") ? .verboseJSON(.v2) : .atom(.v2))
        let type = QualifiedName("RefScenario", "Room")
        let closing = UInt8(ascii: path.hasSuffix(".json") ? "}" : ">")
        let end = bytes.lastIndex(of: closing) ?? 0
        for count in 0..<end {
            let cut = Array(bytes[..<count])
            #expect(throws: PayloadError.self) { try elements(cut, decoder, type, chunk: 4096) }
            if count % 7 == 0 {
                #expect(throws: PayloadError.self) { try decoder.entity(cut, type: type) }
                #expect(throws: PayloadError.self) { try decoder.references(cut) }
                #expect(throws: PayloadError.self) { try decoder.serviceDocument(cut) }
                #expect(throws: PayloadError.self) { try decoder.value(cut, type: .collection(.entity(type))) }
                #expect(throws: PayloadError.self) { try decoder.error(cut) }
            }
        }
    }
}

@Suite("Corpus: transcripts", .enabled(if: Corpus.isPresent, "no corpus at ../shared/corpus or OUTPOST_CORPUS"))
struct CorpusTranscriptTests {
    struct Exchange: Decodable {
        struct Message: Decodable {
            var method: String?
            var path: String?
            var status: Int?
            var headers: [String: String]?
            var body: String?
        }
        var request: Message
        var response: Message
    }

    static func exchanges() throws -> [Exchange] {
        try JSONDecoder().decode([Exchange].self, from: Data(try Corpus.bytes("transcripts/olingo-tecsvc.json")))
    }

    private func contentType(_ message: Exchange.Message) -> String? {
        message.headers?.first { $0.key.lowercased() == "content-type" }?.value
    }

    @Test("each body is read by its context")
    func read() throws {
        let exchanges = try Self.exchanges()
        let metadata = try #require(exchanges.first { $0.request.path == "/$metadata" }?.response.body)
        let model = try CSDLReader.read(xml: Array(metadata.utf8))
        var counts: [String: Int] = [:]
        for exchange in exchanges where exchange.request.path?.hasPrefix("/$metadata") == false {
            let path = exchange.request.path ?? ""
            guard let body = exchange.response.body, !body.isEmpty, let type = contentType(exchange.response) else {
                continue
            }
            let bytes = Array(body.utf8)
            if type.hasPrefix("multipart/") {
                #expect(
                    try !MultipartBatch.readResponse(bytes, boundary: MultipartBatch.boundary(contentType: type))
                        .isEmpty)
                counts["batch", default: 0] += 1
                continue
            }
            guard let format = PayloadFormat(contentType: type, version: .v4) else { continue }
            let decoder = PayloadDecoder(model: model, format: format)
            let status = exchange.response.status ?? 0
            if status >= 400 {
                #expect(try !decoder.error(bytes).message.isEmpty, "\(path)")
                counts["error", default: 0] += 1
            } else if case .atom = format {
                let set = path.dropFirst().prefix { $0 != "(" && $0 != "?" }
                let shape = try #require(model.shape(ofSet: String(set)))
                let read = try elements(bytes, decoder, shape.name, chunk: 100)
                #expect(read.count > 1, "\(path)")
                counts["Atom", default: 0] += 1
            } else if path == "/" {
                #expect(try decoder.serviceDocument(bytes).entries.count > 10)
                counts["service", default: 0] += 1
            } else {
                do {
                    counts[try readJSON(bytes, decoder, path), default: 0] += 1
                } catch {
                    Issue.record("\(path): \(error) in \(body.prefix(300))")
                }
            }
        }
        for kind in ["batch", "error", "Atom", "service", "entity", "collection", "value", "references"] {
            #expect(counts[kind] ?? 0 > 0, "\(kind): \(counts)")
        }
    }

    /// Reads a body according to its context URL, or else according to its path.
    private func readJSON(_ bytes: [UInt8], _ decoder: PayloadDecoder, _ path: String) throws -> String {
        let model = decoder.model
        let context = try JSONScanner.scan(bytes) { (scanner) throws(JSONError) -> String? in
            try scanner.beginObject()
            guard let key = try scanner.nextKey(), key == "@odata.context" else { return nil }
            return try scanner.readString()
        }
        let fragment = context?.split(separator: "#").last.map(String.init) ?? String(path.dropFirst()) + "/$entity"
        let set = String(fragment.prefix { $0 != "(" && $0 != "/" })
        if fragment.contains("$ref") {
            _ = try decoder.references(bytes)
            return "references"
        }
        if let shape = model.shape(ofSet: set) ?? model.singleton(set).flatMap({ model.shape($0.type) }) {
            let rest = fragment.dropFirst(set.utf8.count)
            let isValue = rest.hasPrefix("(") && rest.contains(")/") && !rest.hasSuffix("/$entity") && rest.last != ")"
            if isValue, let property = rest.split(separator: "/").last.map(String.init),
                shape.ordinal(of: property) != nil
            {
                _ = try decoder.value(bytes, type: shape.property(property)?.type ?? .untyped("Edm.Untyped"))
                return "value"
            }
            if fragment.hasSuffix("/$entity") || model.singleton(set) != nil {
                let entity = try decoder.entity(bytes, type: shape.name).entity
                for format in [PayloadFormat.json(.v401, metadata: .full), .json(.v4), .atom(.v4)] {
                    let body = PayloadEncoder(model: model, format: format).entity(entity, declared: shape.name)
                    let again = try PayloadDecoder(model: model, format: format).entity(body, type: shape.name).entity
                    if again != entity {
                        let texts = [entity, again].map { entity in
                            let bytes = PayloadEncoder(model: model, format: .json(.v401)).entity(entity)
                            return String(decoding: bytes, as: UTF8.self)
                        }
                        Issue.record("\(path) is another after \(format): \(texts[0]) and \(texts[1])")
                    }
                }
                return "entity"
            }
            let read = try elements(bytes, decoder, shape.name, chunk: 50)
            guard case .finished? = read.last else { throw PayloadError.unsupported("\(path): not finished") }
            return "collection"
        }
        _ = try decoder.value(bytes, type: model.typeReference(fragment: fragment))
        return "value"
    }
}
