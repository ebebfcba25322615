import ODataModel
import ODataService
import OfflineOData
import Testing

@Suite("An unreadable value affects only itself (rule 40)")
struct UnreadableValueTests {
    private static let properties = """
        <Property Name="D" Type="Edm.Date"/><Property Name="M" Type="Edm.Decimal" Precision="10" Scale="2"/>\
        <Property Name="T" Type="Edm.DateTimeOffset"/><Property Name="F" Type="Edm.Double"/>\
        <Property Name="B" Type="Edm.Boolean"/><Property Name="I" Type="Edm.Int32"/>\
        <Property Name="G" Type="Edm.Guid"/><Property Name="E" Type="N.E"/><Property Name="A" Type="N.Place"/>\
        <Property Name="L" Type="Collection(Edm.Int32)"/>
        """
    private static let types = """
        <EnumType Name="E"><Member Name="A" Value="1"/></EnumType>\
        <ComplexType Name="Place"><Property Name="City" Type="Edm.String"/><Property Name="Zip" Type="Edm.Int32"/>\
        </ComplexType>
        """

    private func service(_ members: String) -> OddService {
        OddService(
            OddService.schema(Self.properties, types: Self.types),
            rows: [1: #"{"ID":1,"Name":"a",\#(members)}"#, 2: #"{"ID":2,"Name":"b"}"#])
    }

    @Test(
        "With an unreadable value, the set arrives, and the status names key and property",
        arguments: [
            (#""D":"nonsense""#, "D"), (#""M":12.505"#, "M"), (#""M":"12,5""#, "M"), (#""T":"yesterday""#, "T"),
            (#""F":"many""#, "F"), (#""B":"perhaps""#, "B"), (#""I":99999999999"#, "I"), (#""I":1.5"#, "I"),
            (#""G":"x""#, "G"), (#""E":"B""#, "E"), (#""D":{"year":1}"#, "D"), (#""Name2":1,"L":[1,"x"]"#, "L"),
            (#""A":{"City":"x","Zip":"none"}"#, "A/Zip"), (#""A":"Paris""#, "A"), (#""I":NaN"#, "I"),
            (#""A":{"City":"x","Zip":-Infinity}"#, "A/Zip"), (#""D":"\ud800""#, "D"), (#""I":05"#, "I"),
            (#""B":True"#, "B"), (#""I":1,"I":2"#, "I"), ("\"T\":\"a\nb\"", "T"), (#""L":[1,"x\q"]"#, "L"),
        ])
    func unreadable(_ members: String, _ property: String) async throws {
        let service = service(members)
        let store = try await service.clone()
        let status = try await store.observe.status()
        #expect(status.unreadable.map(\.entity) == ["Items(1)"])
        #expect(status.unreadable.map(\.property) == [property])
        #expect(try await store.rows("Items").map { $0["Name"] } == ["a", "b"])
        let row = try #require(try await store.rows("Items(1)").first)
        #expect(property.contains("/") || row[property] == nil)
        // The second download compares the rows and finds no differences.
        let report = try await store.download()
        #expect(report.updated == 0)
        #expect(report.unreadable.map(\.property) == [property])
    }

    private static let forms: [(String, String, ODataValue)] = [
        (#""Name":5"#, "Name", ODataValue.string("5")), (#""Name":true"#, "Name", .string("true")),
        (#""F":"Infinity""#, "F", .double(.infinity)), (#""F":"-Infinity""#, "F", .double(-.infinity)),
        (#""F":Infinity"#, "F", .double(.infinity)), (#""F":-INF"#, "F", .double(-.infinity)),
        (#""B":"true""#, "B", .boolean(true)), (#""B":"FALSE""#, "B", .boolean(false)),
        (#""I":" 7 ""#, "I", .integer(7)), (#""D":"0000-00-00""#, "D", .null), ("\"D\":\"\"", "D", .null),
        ("\"M\":\"\"", "M", .null), ("\"T\":\"\"", "T", .null), (#""T":"0000-00-00T00:00:00Z""#, "T", .null),
        (#""D":"2026-01-02T00:00:00Z""#, "D", .date(ODataDate(daysSinceEpoch: 20455))),
    ]

    @Test("A value with only one possible meaning is read", arguments: forms)
    func otherForms(_ member: String, _ property: String, _ value: ODataValue) async throws {
        let service = OddService(
            OddService.schema(Self.properties, types: Self.types), rows: [1: #"{"ID":1,\#(member)}"#])
        let store = try await service.clone()
        #expect(try await store.rows("Items(1)").first?[property] == value)
        #expect(try await store.observe.status().unreadable.isEmpty)
    }

    @Test("Verbose JSON of version 2 is read in the same way")
    func older() async throws {
        let properties = #"<Property Name="B" Type="Edm.Boolean"/><Property Name="M" Type="Edm.Decimal"/>"#
        let service = OddService(
            OddService.olderSchema(properties), rows: [1: #"{"ID":1,"Name":5,"B":"true","M":"x"}"#])
        let store = try await service.clone()
        let row = try #require(try await store.rows("Items(1)").first)
        #expect(row["B"] == .boolean(true))
        #expect(row["Name"] == .string("5"))
        #expect(try await store.observe.status().unreadable.map(\.property) == ["M"])
    }

    @Test("A value that becomes readable is loaded and removed from the status")
    func readAgain() async throws {
        let service = service(#""D":"nonsense""#)
        let store = try await service.clone()
        service.rows[1] = #"{"ID":1,"Name":"a","D":"2026-01-02"}"#
        try await store.download()
        #expect(try await store.rows("Items(1)").first?["D"] != nil)
        #expect(try await store.observe.status().unreadable.isEmpty)
    }

    @Test("A value that becomes unreadable replaces the loaded one")
    func lost() async throws {
        let service = service(#""D":"2026-01-02""#)
        let store = try await service.clone()
        service.rows[1] = #"{"ID":1,"Name":"a","D":"nonsense"}"#
        try await store.download()
        #expect(try await store.rows("Items(1)").first?["D"] == nil)
        #expect(try await store.observe.status().unreadable.map(\.property) == ["D"])
    }

    @Test("A change does not send the unreadable property")
    func change() async throws {
        let service = service(#""D":"nonsense""#)
        let store = try await service.clone()
        try await store.update("Items(1)", ["Name": "new"])
        let report = try await store.upload()
        #expect(report.failed.isEmpty)
        let sent = try #require(service.requests.last { $0.method == "PATCH" })
        #expect(sent.body.contains("new"))
        #expect(!sent.body.contains("\"D\""))
    }

    @Test("A service that requires whole entities keeps the unreadable property")
    func whole() async throws {
        let service = service(#""D":"nonsense""#)
        let store = try await service.clone()
        service.answer { $0.method == "PATCH" ? .refusal(405) : nil }
        try await store.update("Items(1)", ["Name": "new"])
        let report = try await store.upload()
        #expect(report.failed.first?.failure?.code == "UnreadableValue")
        #expect(!service.requests.contains { $0.method == "PUT" })
    }

    @Test(
        "A row with an unreadable key, or that is no entity, is listed and not stored",
        arguments: [
            #"{"Name":"x"}"#, #"{"ID":"x"}"#, "null", "[]", #"[{"ID":1}]"#, "7", #""x""#, #"{"ID":1,"ID":3}"#,
            #"{"ID":1 "Name":"x"}"#,
        ])
    func key(_ row: String) async throws {
        let service = OddService(rows: [1: row, 2: #"{"ID":2,"Name":"b"}"#])
        let store = try await service.clone()
        #expect(try await store.rows("Items").map { $0["Name"] } == ["b"])
        let unreadable = try await store.observe.status().unreadable
        #expect(unreadable.count == 1)
        #expect(unreadable.first?.entity == nil)
        // The value is listed once, even if it is downloaded again.
        try await store.download()
        #expect(try await store.observe.status().unreadable.count == 1)
    }

    @Test("Related entities of another form cost the relation, and are named until they are gone")
    func related() async throws {
        let service = OddService(
            OddService.schema(#"<NavigationProperty Name="P" Type="N.Item"/>"#),
            rows: [1: #"{"ID":1,"Name":"a","P":5}"#, 2: #"{"ID":2,"Name":"b"}"#])
        let store = try await service.clone()
        #expect(try await store.rows("Items").map { $0["Name"] } == ["a", "b"])
        #expect(try await store.observe.status().unreadable.map(\.property) == ["P"])
        service.rows[1] = #"{"ID":1,"Name":"c"}"#
        try await store.download()
        #expect(try await store.rows("Items(1)").first?["Name"] == "c")
        #expect(try await store.observe.status().unreadable.isEmpty)
    }

    @Test("In strict mode, an unreadable value refuses its set")
    func strict() async throws {
        let service = service(#""D":"nonsense""#)
        var options = OfflineStore.Options()
        options.sync.refusesUnreadableValues = true
        let store = try await service.store([:], options)
        await #expect(throws: (any Error).self) { try await store.download() }
        #expect(try await store.rows("Items").isEmpty)
    }

    @Test("Local changes of a row stay if one of its values becomes unreadable")
    func behindChanges() async throws {
        let service = service(#""D":"2026-01-02""#)
        let store = try await service.clone()
        try await store.update("Items(1)", ["Name": "mine"])
        service.rows[1] = #"{"ID":1,"Name":"a","D":"nonsense"}"#
        try await store.download()
        let row = try #require(try await store.rows("Items(1)").first)
        #expect(row["Name"] == "mine")
        #expect(row["D"] == nil)
        #expect(try await store.upload().failed.isEmpty)
    }
}
