import ODataModel
import TestModels
import Testing

@testable import ODataFormat

@Suite("One model for every format")
struct PayloadFormatTests {
    static let formats: [PayloadFormat] = [
        .json(.v3), .json(.v4), .json(.v401, metadata: .full), .json(.v4, metadata: .none, isIEEE754Compatible: true),
        .verboseJSON(.v1), .verboseJSON(.v2), .verboseJSON(.v3), .atom(.v2), .atom(.v3), .atom(.v4),
    ]
    private let model: EntityDataModel

    init() throws { model = try LegacyService.model() }

    private func room() throws -> ODataEntity {
        var room = try #require(ODataEntity(ofSet: "Rooms", model: model))
        for (name, text, type) in [
            ("Seats", "9007199254740993", PrimitiveType.int64), ("Price", "2.5", .decimal), ("Area", "1.5", .double),
            ("Built", "2026-11-21T13:00:00.125", .dateTime), ("Seen", "2026-11-21T13:00:00+01:00", .dateTimeOffset),
            ("Opens", "PT8H", .time), ("Plan", "_-8", .binary), ("Code", "01234567-89ab-cdef-0123-456789abcdef", .guid),
        ] { room[name] = try ODataValue(lexical: text, type: type) }
        room["Id"] = "1'<&\"ü\n"
        room["Name"] = "Blue"
        try room.set("Rome", at: "Site/City", model: model)
        room.related["Desks"] = .many([ODataEntity(shape: try #require(model.shape(ofSet: "Desks")), ["No": 1])])
        room.related["Building"] = RelatedEntities.none
        room.markUnchanged()
        return room
    }

    @Test("an entity reads back the same in every format, alone and in a collection", arguments: formats)
    func entities(format: PayloadFormat) throws {
        let room = try room()
        let encoder = PayloadEncoder(model: model, format: format)
        let decoder = PayloadDecoder(model: model, format: format, strictness: .strict)
        #expect(try decoder.entity(encoder.entity(room), type: room.shape.name).entity == room)
        var writer = encoder.collection(type: room.shape.name)
        writer.begin(url: "Rooms", set: "Rooms", context: "$metadata#Rooms", count: 1)
        writer.entity(room)
        writer.end()
        #expect(writer.count > 0)
        var reader = decoder.collection(type: room.shape.name)
        try reader.append(writer.takeBytes())
        try reader.finish()
        let first = try reader.next()
        #expect(first == .entity(room))
        let last = try reader.next()
        guard case .finished(let summary)? = last else {
            Issue.record("not finished")
            return
        }
        #expect(summary.count == (format == .verboseJSON(.v1) ? nil : 1))
        let end = try reader.next()
        #expect(end == nil)
    }

    @Test("requests contain only necessary information", arguments: formats)
    func requests(format: PayloadFormat) throws {
        var room = try room()
        room.control.id = "Rooms('1')"
        room.control.etag = "secret"
        room.control.annotations["Building@odata.navigationLink"] = "secret"
        let encoder = PayloadEncoder(model: model, format: format, purpose: .create, includesRelated: false)
        let body = encoder.entity(room)
        #expect(!String(decoding: body, as: UTF8.self).contains("secret"))
        let decoder = PayloadDecoder(model: model, format: format, strictness: .strict)
        let read = try decoder.entity(body, type: room.shape.name).entity
        #expect(read.related.isEmpty && read.values == room.values)
    }

    @Test("values, references, errors and service documents read back the same in every format", arguments: formats)
    func others(format: PayloadFormat) throws {
        let encoder = PayloadEncoder(model: model, format: format)
        let decoder = PayloadDecoder(model: model, format: format)
        let room = try room()
        for (value, type) in [
            (try #require(room["Seats"]), .primitive(.int64)), (try #require(room["Built"]), .primitive(.dateTime)),
            (.null, .primitive(.string)), (try #require(room["Site"]), .complex(QualifiedName("Ref", "Site"))),
            (["a", "b"], .collection(.primitive(.string))),
            (.collection([try #require(room["Site"])]), .collection(.complex(QualifiedName("Ref", "Site")))),
            ([], .collection(.primitive(.int32))), (.complex(room), .entity(room.shape.name)),
            (.collection([.complex(room), .complex(room)]), .collection(.entity(room.shape.name))),
        ] as [(ODataValue, TypeReference)] {
            let body = encoder.value(ValuePayload(value), named: "Thing", type: type)
            #expect(try decoder.value(body, type: type).value == value, "\(String(decoding: body, as: UTF8.self))")
        }
        let references = ReferencePayload(ids: ["a", "b"], isCollection: true)
        #expect(try decoder.references(encoder.references(references)) == references)
        let error = ODataErrorPayload(
            code: "1", message: "<no>", details: [.init(code: "2", message: "x", target: "y")])
        let read = try decoder.error(encoder.error(error))
        #expect(read.code == error.code && read.message == error.message && read.details == error.details)
        #expect(throws: PayloadError.self) { try decoder.entity(encoder.error(error), type: room.shape.name) }
        let document = try decoder.serviceDocument(encoder.serviceDocument(baseURL: "http://h/", context: nil))
        #expect(document.entries.map(\.name) == ["Rooms", "Buildings", "Desks"])
    }

    @Test(
        "the format is determined by media type and version",
        arguments: [
            ("application/json", .v2, .verboseJSON(.v2)), ("application/json;odata=verbose", .v3, .verboseJSON(.v3)),
            ("application/json; odata=minimalmetadata", .v3, .json(.v3)),
            ("application/json;odata=fullmetadata;charset=utf-8", .v3, .json(.v3, metadata: .full)),
            ("application/json", .v3, .json(.v3)), ("application/json", .v4, .json(.v4)),
            (
                "Application/JSON;odata.metadata=none;IEEE754Compatible=true", .v4,
                .json(.v4, metadata: .none, isIEEE754Compatible: true)
            ),
            ("application/json;metadata=full", .v401, .json(.v401, metadata: .full)),
            ("application/atom+xml;type=feed", .v2, .atom(.v2)), ("application/xml", .v4, .atom(.v4)),
            ("text/html", .v4, nil), ("", .v4, nil),
        ] as [(String, ODataVersion, PayloadFormat?)])
    func told(contentType: String, version: ODataVersion, format: PayloadFormat?) {
        #expect(PayloadFormat(contentType: contentType, version: version) == format)
    }

    @Test("each format has its media type", arguments: formats)
    func mediaTypes(format: PayloadFormat) {
        #expect(PayloadFormat(contentType: format.contentType(.feed), version: format.version) == format)
    }

    @Test("a link in a delta is refused in versions before V4")
    func links() {
        var writer = PayloadEncoder(model: model, format: .verboseJSON(.v2)).collection(type: LegacyService.room)
        #expect(throws: PayloadError.unsupported("a link in a delta")) {
            try writer.link(DeltaLink(source: "a", relationship: "b", target: nil), isDeleted: true)
        }
    }
}

@Suite("The content of a context URL")
struct ContextTypeTests {
    @Test(
        "Keys in a context URL do not affect the type",
        arguments: ["1", "'a/b'", "'\u{301}'", "'\u{301}('", "'\u{600}'", "'''\u{301}''('"])
    func keys(key: String) throws {
        let model = try SampleService.model()
        #expect(
            model.entityType(context: "$metadata#Customers(\(key))/$entity") == QualifiedName("Shop", "Customer"))
        #expect(model.entityType(context: "$metadata#Orders(\(key))/Items") == QualifiedName("Shop", "Item"))
    }
}

@Suite("Calls of function imports")
struct FunctionImportCallTests {
    private let model: EntityDataModel

    init() throws { model = try LegacyService.model() }

    @Test("V2 URI 3.3: arguments are literals of their types, escaped")
    func url() throws {
        let call = try FunctionImportCall("SeatsOf", model: model)
        #expect(call.httpMethod == "GET" && call.resultKind == .simple)
        let since = ODataValue.dateTime(try #require(ODataDateTime("2026-11-21T13:00:00")))
        #expect(
            try call.url(arguments: ["Id": "O'Neill & Söhne", "Since": since, "Limit": 5])
                == "SeatsOf?Id=%27O%27%27Neill%20%26%20S%C3%B6hne%27&Since=datetime%272026-11-21T13%3A00%3A00%27&Limit=5L"
        )
        #expect(try FunctionImportCall("Ping", model: model).url() == "Ping")
        #expect(try FunctionImportCall("Ping", model: model).httpMethod == "POST")
        #expect(throws: FunctionImportCall.CallError.unknownParameter("No", of: "SeatsOf")) {
            try call.url(arguments: ["No": 1])
        }
        let current = try SampleService.model()
        #expect(throws: FunctionImportCall.CallError.unsupportedVersion(current.version)) {
            try FunctionImportCall("No", model: current)
        }
        #expect(throws: FunctionImportCall.CallError.unknownImport("No")) { try FunctionImportCall("No", model: model) }
    }

    @Test("CSDL 2: an output parameter takes no argument")
    func modes() throws {
        let text = """
            <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"><edmx:DataServices>
            <Schema Namespace="S" xmlns="http://schemas.microsoft.com/ado/2008/09/edm"><EntityContainer Name="C"><FunctionImport Name="F">
            <Parameter Name="A" Type="Edm.Int32" Nullable="false"/><Parameter Name="B" Type="Edm.Int32" Mode="Out" Nullable="false"/>
            <Parameter Name="D" Type="Edm.Int32" Mode="InOut" Nullable="false"/></FunctionImport></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
            """
        let call = try FunctionImportCall("F", model: try CSDLReader.read(Array(text.utf8)))
        #expect(call.parameters.map(\.mode) == [.input, .output, .both])
        #expect(call.writableParameters.map(\.name) == ["A", "D"])
        #expect(try call.url(arguments: ["A": 1, "D": 2]) == "F?A=1&D=2")
        #expect(throws: FunctionImportCall.CallError.missingArgument("D", of: "F")) {
            try call.url(arguments: ["A": 1])
        }
        #expect(throws: FunctionImportCall.CallError.unknownParameter("B", of: "F")) {
            try call.url(arguments: ["A": 1, "B": 1, "D": 2])
        }
    }

    @Test(
        "literals of every type are written",
        arguments: [
            (.guid, "01234567-89ab-cdef-0123-456789abcdef", "guid'01234567-89ab-cdef-0123-456789abcdef'"),
            (.decimal, "2.50", "2.50M"), (.double, "1.5", "1.5d"), (.single, "INF", "INF"), (.double, "NaN", "Nan"),
            (.binary, "AP8", "X'00FF'"), (.time, "PT8H", "time'PT8H'"), (.boolean, "true", "true"),
            (.dateTimeOffset, "2026-11-21T13:00:00Z", "datetimeoffset'2026-11-21T13:00:00Z'"), (.int32, "7", "7"),
        ] as [(PrimitiveType, String, String)])
    func literals(type: PrimitiveType, text: String, literal: String) throws {
        let value = try ODataValue(lexical: text, type: type)
        #expect(
            LegacyLiteral.text(value, type: .primitive(type)).map { $0.replacing("2.5M", with: "2.50M") } == literal)
    }

    @Test(
        "OData V2 Overview 6: arguments become literals of the parameter type",
        arguments: [
            (5, .decimal, "5M"), (5, .int64, "5L"), (2, .double, "2d"), (2, .single, "2f"),
            (.double(2.5), .decimal, "2.5M"), (.double(2.5), .single, "2.5f"),
            (.decimal(ODataDecimal("2.5")!), .double, "2.5d"),
            (
                .dateTimeOffset(ODataDateTimeOffset("2020-01-01T01:00:00+01:00")!), .dateTime,
                "datetime'2020-01-01T00:00:00'"
            ),
            (.date(ODataDate("2020-01-01")!), .dateTime, "datetime'2020-01-01T00:00:00'"),
            (.date(ODataDate("2020-01-01")!), .dateTimeOffset, "datetimeoffset'2020-01-01T00:00:00Z'"),
            (.timeOfDay(ODataTimeOfDay("13:20:00")!), .time, "time'PT13H20M'"),
            ("01234567-89ab-cdef-0123-456789abcdef", .guid, "guid'01234567-89ab-cdef-0123-456789abcdef'"),
            ("5", .int64, "'5'"),
        ] as [(ODataValue, PrimitiveType, String)])
    func argument(value: ODataValue, type: PrimitiveType, literal: String) throws {
        let text = """
            <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"><edmx:DataServices>
            <Schema Namespace="S" xmlns="http://schemas.microsoft.com/ado/2008/09/edm"><EntityContainer Name="C">
            <FunctionImport Name="F"><Parameter Name="A" Type="\(type.rawValue)"/></FunctionImport>
            </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
            """
        let call = try FunctionImportCall("F", model: try CSDLReader.read(Array(text.utf8)))
        #expect(try call.url(arguments: ["A": value]).removingPercentEncoding == "F?A=\(literal)")
        #expect(try call.template(arguments: ["A": value]).removingPercentEncoding == "F?A=\(literal)")
    }

    @Test("placeholders of arguments stand within the delimiters of their literals")
    func places() {
        #expect(LegacyLiteral.place(named: "At", type: .primitive(.time)) == "time'{At}'")
        #expect(LegacyLiteral.place(named: "Day", type: .primitive(.dateTime)) == "datetime'{Day}'")
    }

    @Test(
        "results of all seven kinds are read in Atom and JSON",
        arguments: ["Ping", "SeatsOf", "MainSite", "Names", "Sites", "Best", "Free"])
    func results(name: String) throws {
        let call = try FunctionImportCall(name, model: model)
        let space = "xmlns=\"http://schemas.microsoft.com/ado/2007/08/dataservices\""
        let entry = "<entry \(AtomEntryTests.namespaces)><m:properties><d:Id>1</d:Id></m:properties></entry>"
        let (xml, json): (String, String) =
            switch call.resultKind {
            case .none: ("", "")
            case .simple: ("<SeatsOf \(space)>5</SeatsOf>", #"{"d":{"SeatsOf":"5"}}"#)
            case .complex:
                ("<MainSite \(space)><City>Rome</City></MainSite>", #"{"d":{"MainSite":{"City":"Rome"}}}"#)
            case .simpleCollection:
                ("<Names \(space)><element>a</element><element>b</element></Names>", #"{"d":{"results":["a","b"]}}"#)
            case .complexCollection:
                (
                    "<Sites \(space)><element><City>Rome</City></element></Sites>",
                    #"{"d":{"results":[{"City":"Rome"}]}}"#
                )
            case .entry: (entry, #"{"d":{"Id":"1"}}"#)
            case .feed: ("<feed \(AtomEntryTests.namespaces)>\(entry)</feed>", #"{"d":{"results":[{"Id":"1"}]}}"#)
            }
        let fromXML = try call.result(Array(xml.utf8), format: .atom(.v2))
        #expect(try call.result(Array(json.utf8), format: .verboseJSON(.v2)) == fromXML)
        switch (call.resultKind, fromXML) {
        case (.none, .null), (.simple, 5), (.simpleCollection, ["a", "b"]): break
        case (.complex, .complex(let site)): #expect(site["City"] == "Rome")
        case (.complexCollection, .collection(let sites)): #expect(sites.count == 1)
        case (.entry, .complex(let room)): #expect(room["Id"] == "1" && room.shape.name == LegacyService.room)
        case (.feed, .collection(let rooms)): #expect(rooms.count == 1)
        default: Issue.record("\(fromXML)")
        }
    }

    @Test(
        "a body that is no service document differs from a malformed one",
        arguments: [
            (.json(.v401), #"{"error":"no"}"#, 1, 15), (.json(.v4), "{\n}", 2, 2),
            (.verboseJSON(.v2), #"{"d":{"results":[]}}"#, 1, 20), (.verboseJSON(.v2), #"{"d":[1]}"#, 1, 6),
            (.atom(.v2), "\n <feed xmlns=\"http://www.w3.org/2005/Atom\"/>", 2, 45),
            (.atom(.v2), "<service/>", 1, 11),
        ] as [(PayloadFormat, String, Int, Int)])
    func noServiceDocument(format: PayloadFormat, text: String, line: Int, column: Int) throws {
        let decoder = PayloadDecoder(model: model, format: format)
        let error = #expect(throws: PayloadError.self) { try decoder.serviceDocument(Array(text.utf8)) }
        guard case .noServiceDocument(let missing)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(missing.line == line, "\(missing)")
        #expect(!missing.expected.isEmpty && missing.column >= 1)
        // Half of a document is malformed, and an unknown entity type is another error.
        let half = #expect(throws: PayloadError.self) { try decoder.serviceDocument(Array(text.utf8.dropLast(2))) }
        if case .noServiceDocument? = half { Issue.record("half a document") }
        #expect(throws: PayloadError.unknownType(QualifiedName("No", "Type"))) {
            try decoder.entity(Array(text.utf8), type: QualifiedName("No", "Type"))
        }
    }
}
